/** Signs that stand in tokens' labels for what nobody sees. */

/** A space, as an open box. */
export const SPACE = '\u2423';
export const NEWLINE = '\u21b5';
export const TAB = '\u21e5';

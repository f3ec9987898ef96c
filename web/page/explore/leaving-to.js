import { turnFocusTo } from '../shared/dom.js';
import { leaving } from '../shared/template.js';

/** Turns the focus to another part when an element goes that has it, as under a key. @param {string} id the other part's */
export const leavingTo = (id) => leaving(() => turnFocusTo(document.getElementById(id)));

/** A file's text. */
declare module '*?raw' {
  const text: string;
  export default text;
}

// `?bundle`, of vite.config.js: an entry with all it imports, as the text of one classic script.
declare module '*?bundle' {
  export const code: string;
  /** Of the code, as a Content Security Policy wants it: sha256-… */
  export const hash: string;
}

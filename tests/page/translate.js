// A browser that translates the page, as Google Translate does.

/**
 * Wraps each text in two elements of its own, also those that come later, and marks it. What a page forbids to translate
 * stays. It runs in the page.
 */
export function translate() {
  const KEPT = 'script, style, textarea, font, svg, noscript, .notranslate, [translate=no]';
  const wrap = (/** @type {Node} */ root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    /** @type {Text[]} */
    const texts = [];
    while (walker.nextNode()) texts.push(/** @type {Text} */ (walker.currentNode));
    for (const text of texts) {
      if (!text.data.trim() || text.parentElement?.closest(KEPT)) continue;
      const [outer, inner] = [document.createElement('font'), document.createElement('font')];
      inner.textContent = `«${text.data}»`;
      outer.append(inner);
      text.replaceWith(outer);
    }
  };
  wrap(document.body);
  const observer = new MutationObserver((changes) => {
    for (const { addedNodes, target } of changes)
      for (const added of addedNodes)
        if (added.isConnected) wrap(added instanceof Text ? target : added);
  });
  observer.observe(document.body, { childList: true, subtree: true });
}

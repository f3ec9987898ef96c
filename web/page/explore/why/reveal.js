/** Scrolls sideways to the first cell that a selector finds, when all cells are there. @param {HTMLElement} scroll @param {string} selector */
export const reveal = (scroll, selector) =>
  queueMicrotask(() => {
    const { offsetLeft = 0 } =
      /** @type {HTMLElement | null} */ (scroll.querySelector(selector)) ?? {};
    scroll.scrollLeft = offsetLeft - scroll.clientWidth / 2;
  });

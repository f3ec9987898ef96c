/**
 * A new element with properties and children.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {Record<string, string | number | boolean>} [attributes] `true` sets
 *   an empty attribute, `false` leaves it out
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== false) {
      element.setAttribute(key, value === true ? '' : String(value));
    }
  }
  element.append(...children);
  return element;
}

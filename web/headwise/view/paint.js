import { tokensOf } from './cells.js';
import { coloursOf, shareOf } from './colour.js';
import { spansOf } from './viewport.js';

/** @typedef {import('./layers.js').Layer} Layer */
/** @typedef {import('./draw-weights.js').How} How */
/** @typedef {import('./viewport.js').Sides} Sides */
/** @typedef {import('./viewport.js').Viewport} Viewport */
/**
 * Cells together with their region.
 * @typedef {import('./pool.js').Region & Required<import('./pool.js').Cells>} KnownCells
 */

/** The hatched ground of masked cells: CSS properties, with their default values, and what is taken where no CSS reaches. */
export const GROUND = ['var(--attention-mask, light-dark(#eceef1, #262b33))', '#eceef1'];
export const HATCH = ['var(--attention-mask-line, light-dark(#cfd4db, #3c444f))', '#cfd4db'];
const HATCH_PX = 6;

/**
 * @param {CSSStyleDeclaration} style
 * @param {string} name
 * @param {string} value
 * @returns {() => void} gives back what stood there
 */
function override(style, name, value) {
  const own = style.getPropertyValue(name);
  const priority = style.getPropertyPriority(name);
  style.setProperty(name, value, 'important');
  return () => style.setProperty(name, own, priority);
}

/**
 * What CSS makes of colours where an element is, whatever transitions the page has there. Colours that the system forces on
 * text are none of a map's.
 *
 * @param {HTMLElement} element
 * @param {readonly string[]} colours
 * @returns {string[]} '' each: the element is in no document
 */
function resolved(element, colours) {
  const { style } = element;
  const endStill = override(style, 'transition-property', 'none');
  const endOwn = override(style, 'forced-color-adjust', 'none');
  const found = colours.map((colour) => {
    const endColour = override(style, 'color', colour);
    const { color } = getComputedStyle(element);
    endColour();
    return color;
  });
  endOwn();
  void getComputedStyle(element).color; // or the page's transition would begin at the last of them
  endStill();
  return found;
}

/** Whether the colours are dark where an element is. @param {HTMLElement} element */
export const isDark = (element) =>
  /255/.test(resolved(element, ['light-dark(rgb(0 0 0), rgb(255 255 255))'])[0]);

/**
 * @param {ArrayLike<number>} values
 * @returns {number} the largest distance from zero, masked scores (−Infinity) and NaN left out
 */
export function largestOf(values) {
  let most = 0;
  for (let i = 0; i < values.length; i++) {
    const size = Math.abs(values[i]);
    if (size > most && size < Infinity) most = size;
  }
  return most;
}

/**
 * The value at the end of a row's colour scale.
 *
 * @param {{ max: How['max'] }} how
 * @param {number} row its largest
 * @param {number} map the whole map's largest
 */
export const endOf = ({ max }, row, map) => (max === 'row' ? row : max === 'map' ? map : max);

/**
 * A picture with one pixel for each cell. It leaves out cells whose keys all come after all their queries.
 *
 * @param {KnownCells} cells
 * @param {How} how
 * @param {object} whole
 * @param {Sides} whole.size of the map
 * @param {number} whole.largest of the map
 * @param {boolean} whole.dark
 * @returns {HTMLCanvasElement}
 */
export function pictureOf(cells, how, { size, largest: map, dark }) {
  const { values, largest, height, width, queries, keys } = cells;
  const picture = document.createElement('canvas');
  picture.width = width;
  picture.height = height;
  const context = picture.getContext('2d');
  if (!context || width * height === 0) return picture;
  const { causal, scale, signed } = how;
  const colour = coloursOf(signed, dark);
  const image = new ImageData(width, height);
  const words = new Uint32Array(image.data.buffer);
  const firstKeys = Uint32Array.from(
    { length: width },
    (_, column) => keys[0] + tokensOf(keys[1] - keys[0], width, column)[0],
  );
  for (let row = 0; row < height; row++) {
    const pastLast = queries[0] + tokensOf(queries[1] - queries[0], height, row)[1];
    const lastSeen = causal ? pastLast - 1 + size.keys - size.queries : Infinity;
    const end = endOf(how, largest[row], map);
    for (let column = 0; column < width && firstKeys[column] <= lastSeen; column++) {
      const value = values[row * width + column];
      const share = shareOf(signed ? Math.abs(value) : Math.max(0, value), end, scale);
      words[row * width + column] = colour(signed && value < 0 ? -share : share);
    }
  }
  context.putImageData(image, 0, 0);
  return picture;
}

/**
 * A tile of the hatched ground, in the colours where a canvas is.
 *
 * @param {HTMLCanvasElement} canvas
 * @returns {HTMLCanvasElement}
 */
export function hatchOf(canvas) {
  const ratio = devicePixelRatio || 1;
  const size = Math.round(HATCH_PX * ratio);
  const tile = document.createElement('canvas');
  tile.width = size;
  tile.height = size;
  const context = tile.getContext('2d');
  if (!context) return tile;
  const [ground, line] = resolved(canvas, [GROUND[0], HATCH[0]]);
  context.fillStyle = ground || GROUND[1];
  context.fillRect(0, 0, size, size);
  context.strokeStyle = line || HATCH[1];
  context.lineWidth = ratio;
  context.beginPath();
  for (const x of [-size, 0, size]) {
    context.moveTo(x - ratio, size + ratio);
    context.lineTo(x + size + ratio, -ratio);
  }
  context.stroke();
  return tile;
}

/**
 * As many pixels as the screen has where a canvas stands; to change them empties it.
 *
 * @param {HTMLCanvasElement} canvas
 */
export function giveSize(canvas) {
  const { clientWidth, clientHeight } = canvas;
  const give = (/** @type {number} */ ratio) => {
    const width = Math.round(clientWidth * ratio);
    const height = Math.round(clientHeight * ratio);
    // A hidden canvas keeps its pixels.
    if (width > 0 && canvas.width !== width) canvas.width = width;
    if (height > 0 && canvas.height !== height) canvas.height = height;
  };
  give(devicePixelRatio || 1);
  // One that CSS gives no size is as large as it has pixels, and would grow with every drawing.
  const growth = Math.max(canvas.clientWidth - clientWidth, canvas.clientHeight - clientHeight);
  if (Math.abs(growth) > 1) give(1);
}

/**
 * Draws the part of a map that is looked at.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {object} map
 * @param {readonly Layer[]} map.layers from the coarse to the fine
 * @param {Viewport} map.view
 * @param {Sides} map.size
 * @param {HTMLCanvasElement} map.hatch
 */
export function paint(canvas, { layers, view, size, hatch }) {
  const context = canvas.getContext('2d');
  if (!context) return;
  const { width, height } = canvas;
  const spans = spansOf(view, size);
  context.clearRect(0, 0, width, height);
  context.imageSmoothingEnabled = false;
  context.fillStyle = context.createPattern(hatch, 'repeat') ?? 'transparent';
  for (const { picture, queries, keys } of layers) {
    /** @type {[number, number, number, number]} */
    const box = [
      ((keys[0] - view.key) * width) / spans.keys,
      ((queries[0] - view.query) * height) / spans.queries,
      ((keys[1] - keys[0]) * width) / spans.keys,
      ((queries[1] - queries[0]) * height) / spans.queries,
    ];
    // Of a coarser layer nothing may show through where a finer one is masked.
    context.fillRect(...box);
    if (picture.width * picture.height > 0) context.drawImage(picture, ...box);
  }
}

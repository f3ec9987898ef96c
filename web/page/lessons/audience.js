/**
 * Who sees what a lesson shows: the page, a test, or in Node the console.
 *
 * @typedef {{ kind: 'value', name: string, value: number | boolean | string | number[] }} ValueItem
 *
 * @typedef {object} TensorItem
 * @property {'tensor'} kind
 * @property {string} name
 * @property {number[]} shape of the whole
 * @property {'float32' | 'bool'} dtype
 * @property {string[]} rows labels of the rows, or none
 * @property {string[]} cols labels of the columns, or none
 * @property {TensorPart[]} parts its matrices, as many as are shown
 *
 * @typedef {object} TensorPart the corner of a matrix that is shown
 * @property {number[]} index of the matrix in the leading dimensions
 * @property {number} rows
 * @property {number} cols
 * @property {Float32Array} values row-major
 *
 * @typedef {object} MapsItem
 * @property {'maps'} kind
 * @property {string} name
 * @property {string[]} tokens
 * @property {boolean} causal
 * @property {{ head: number, values: Float32Array }[]} maps n × n each
 *
 * @typedef {ValueItem | TensorItem | MapsItem} Item
 */

/** @type {(item: Item) => void} */
let audience = print;

/** @param {Item} item */
export const tell = (item) => audience(item);

/** @param {(item: Item) => void} next */
export function listen(next) {
  audience = next;
}

/** @param {Item} item */
function print(item) {
  if (item.kind === 'value') {
    console.log(`${item.name}:`, item.value);
    return;
  }
  const parts =
    item.kind === 'tensor'
      ? item.parts.map((part) => ({ title: [item.name, ...part.index].join(' '), ...part }))
      : item.maps.map(({ head, values }) => {
          const n = item.tokens.length;
          return { title: `${item.name}, head H${head}`, rows: n, cols: n, values };
        });
  if (item.kind === 'tensor') console.log(`${item.name}: [${item.shape.join(', ')}]`);
  for (const { title, rows, cols, values } of parts) {
    console.log(title);
    for (let row = 0; row < rows; row++) {
      const line = [...values.subarray(row * cols, (row + 1) * cols)];
      console.log(`  ${line.map((value) => value.toFixed(4).padStart(8)).join(' ')}`);
    }
  }
}

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
 * @typedef {object} Corner the corner of a matrix that is shown
 * @property {number} rows
 * @property {number} cols
 * @property {Float32Array} values row-major
 *
 * @typedef {Corner & { index: number[] }} TensorPart index: of the matrix in the leading dimensions
 *
 * @typedef {object} MapsItem
 * @property {'maps'} kind
 * @property {string} name
 * @property {string[]} tokens
 * @property {boolean} causal
 * @property {{ head: number, values: Float32Array }[]} maps n × n each
 *
 * @typedef {object} GridsPart a tensor as cells in colour
 * @property {'grids'} kind
 * @property {string} label
 * @property {number[]} shape of the whole
 * @property {number} height of a matrix; what is drawn of it may be less
 * @property {number} width
 * @property {number} heads how many; 0: none are told apart
 * @property {'cols' | 'rows' | 'part'} by what belongs to a head: columns, rows, or a matrix
 * @property {number | undefined} head to which all of it belongs
 * @property {boolean} isWeights in the colours of attention weights
 * @property {string[]} rows labels, or none
 * @property {string[]} cols labels, or none
 * @property {Corner[]} grids
 *
 * @typedef {{ kind: 'chain', name: string, parts: (string | GridsPart)[] }} ChainItem
 *
 * @typedef {{ label: string, note: string, part: GridsPart | undefined, head: number | undefined }} FlowNode
 * @typedef {{ nodes: FlowNode[] } | { adds: string, around: FlowRow[] }} FlowRow
 * @typedef {{ kind: 'flow', name: string, rows: FlowRow[] }} FlowItem
 *
 * @typedef {{ kind: 'strip', name: string, heads: number, values: Float32Array }} StripItem
 *
 * @typedef {object} LinesItem
 * @property {'lines'} kind
 * @property {string} name
 * @property {number[]} x
 * @property {{ label: string, values: number[] }[]} series
 * @property {string} xLabel
 * @property {string} yLabel
 *
 * @typedef {{ kind: 'bars', name: string, bars: { label: string, value: number }[] }} BarsItem
 *
 * @typedef {ChainItem | FlowItem | StripItem | LinesItem | BarsItem} PictureItem
 *
 * @typedef {{ kind: 'check', name: string, passed: boolean, words: string }} CheckItem words: what is still wrong
 * @typedef {{ kind: 'log', name: string, level: 'log' | 'warn' | 'error', text: string }} LogItem what the console was told
 *
 * @typedef {ValueItem | TensorItem | MapsItem | PictureItem | CheckItem | LogItem} Item
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
  if (item.kind === 'check') {
    console.log(item.passed ? `✓ ${item.name}` : `✗ ${item.name}: ${item.words}`);
    return;
  }
  if (item.kind !== 'tensor' && item.kind !== 'maps') {
    console.log(`${item.name}: a picture on the page`);
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

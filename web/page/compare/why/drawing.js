/**
 * How the heads' matrices become one, and the one product is split into heads again: figure 3.26 of Raschka's "Build a
 * Large Language Model (From Scratch)", step by step, with the example's own numbers.
 *
 * @typedef {{ words: string[], x: number[][], weights: number[][][], queries: number[][] }} Numbers
 * @typedef {{ x: number, y: number, seen: number }} Spot seen: 0 to 1
 */

import { html, svg } from '../../shared/template.js';

const WIDTH = 436;
const HEIGHT = 330;
/** Of a cell. */
const [CW, CH] = [36, 20];
/** Left edges of x, W_q and Q. */
const [AX, AW, AQ] = [0, 128, 292];
/** Upper edges: of the products above each other, and of the one product. */
const [TOP, MIDDLE, BOTTOM] = [24, 108, 198];
const FAINT = 0.16;
/** A strip of memory: cells in a line, and where its lines are. */
const IN_LINE = 12;
const [STRIP_X, STRIP_Y, STRIP_LINE] = [2, 92, 120];

export const STEPS = [
  {
    name: 'Wrapper: a product per head',
    words:
      'Here x is the example’s six tokens, “Your journey starts with one step”. The wrapper multiplies x by the query matrix of head H0, then by that of head H1. Each product reads all of x again.',
  },
  {
    name: 'Stack the matrices',
    words:
      'The fused module puts both matrices side by side: W_q has the columns of H0, then of H1.',
  },
  {
    name: 'Multiply once',
    words:
      'One larger product gives the queries of both heads. x is read once, and a large product keeps the processor busier than many small ones.',
  },
  {
    name: 'Split by strides',
    words:
      'In memory Q lies row after row: two numbers of H0, two of H1, then the next token. A head’s next token is 4 numbers further on. That is all a .view does.',
  },
  {
    name: 'The same queries',
    words:
      'Read with a stride of 4 from 0 and from 2, they are the queries of H0 and H1 from step 1, without a copy. Keys and values work the same way.',
  },
];

/** @param {number} value */
const two = (value) => value.toFixed(2).replace('-', '\u2212');

/** @param {Spot} spot @param {number} value @param {string} of 'x', 'h0' or 'h1' @param {number} most */
function cell({ x, y, seen }, value, of, most) {
  const share = Math.round(12 + (55 * Math.abs(value)) / most);
  return svg`<g class="drawn-cell of-${of}" style="transform:translate(${x}px,${y}px);opacity:${seen}">
    <rect width=${CW - 1} height=${CH - 1} rx="2" style="--share:${share}%"></rect>
    <text x=${CW / 2 - 0.5} y=${CH / 2 + 3}>${two(value)}</text>
  </g>`;
}

/** @param {number} left @param {number} top @param {number} row @param {number} column @param {number} [seen] */
const at = (left, top, row, column, seen = 1) => ({
  x: left + column * CW,
  y: top + row * CH,
  seen,
});

/** @param {number} step @param {number} copy 0, or 1 for the second product's @param {number} row @param {number} column */
function spotOfX(step, copy, row, column) {
  if (step === 0) return at(AX, copy ? BOTTOM : TOP, row, column);
  return at(AX, MIDDLE, row, column, step > 2 ? 0 : 1 - copy);
}

/** @param {number} step @param {number} head @param {number} row @param {number} column */
function spotOfWeight(step, head, row, column) {
  const down = 1.5 * CH;
  if (step === 0) return at(AW, (head ? BOTTOM : TOP) + down, row, column);
  return at(AW, MIDDLE + down, row, 2 * head + column, step > 2 ? 0 : 1);
}

/** @param {number} step @param {number} row @param {number} column of Q */
function spotOfQuery(step, row, column) {
  const head = column >> 1;
  if (step === 0 || step === 4) {
    return at(AQ, head ? BOTTOM : TOP, row, column - 2 * head);
  }
  if (step < 3) return at(AQ, MIDDLE, row, column, step === 1 ? FAINT : 1);
  const place = 4 * row + column;
  const line = Math.floor(place / IN_LINE);
  return { x: STRIP_X + (place % IN_LINE) * CW, y: STRIP_Y + line * STRIP_LINE, seen: 1 };
}

/** @param {number} x @param {number} y @param {string} words @param {string} [of] */
const label = (x, y, words, of = '') =>
  svg`<text class="drawn-label ${of}" x=${x} y=${y}>${words}</text>`;

/** The names of the matrices and the signs between them. @param {number} step */
function labels(step) {
  /** @param {number} top @param {string} weights @param {string} queries @param {number} columns @param {string} of */
  const product = (top, weights, queries, columns, of) => [
    label(AX + 1.5 * CW, top - 7, 'x'),
    label(AW + (columns / 2) * CW, top + 1.5 * CH - 7, weights, of),
    label(AQ + (columns / 2) * CW, top - 7, queries, of),
    label((AX + 3 * CW + AW) / 2, top + 3 * CH + 4, '·'),
    label(AW + columns * CW + (AQ - AW - columns * CW) / 2, top + 3 * CH + 4, '='),
  ];
  if (step === 0) {
    return [
      ...product(TOP, 'W_q of H0', 'Q of H0', 2, 'of-h0'),
      ...product(BOTTOM, 'W_q of H1', 'Q of H1', 2, 'of-h1'),
    ];
  }
  if (step < 3) return product(MIDDLE, 'W_q = H0 | H1', step === 1 ? '' : 'Q', 4, '');
  if (step === 3) return strip();
  return [
    label(AQ + CW, TOP - 7, 'Q of H0', 'of-h0'),
    label(AQ + CW, BOTTOM - 7, 'Q of H1', 'of-h1'),
    label(AQ / 2, TOP + 56, 'start 0, stride 4', 'of-h0'),
    label(AQ / 2, TOP + 72, 'numbers 0 1, 4 5, 8 9 …'),
    label(AQ / 2, BOTTOM + 56, 'start 2, stride 4', 'of-h1'),
    label(AQ / 2, BOTTOM + 72, 'numbers 2 3, 6 7, 10 11 …'),
  ];
}

/** Words and strides on the strip of memory. */
function strip() {
  /** @param {number} place */
  const x = (place) => STRIP_X + (place % IN_LINE) * CW + CW / 2;
  /** @param {number} from @param {string} of */
  const arc = (from, of) => {
    const [start, end, y] = [x(from), x(from + 4), STRIP_Y - 4];
    const middle = (start + end) / 2;
    return [
      svg`<path class="drawn-arc ${of}" d="M${start} ${y}Q${middle} ${y - 48} ${end - 3} ${y - 3}" marker-end="url(#tip)"></path>`,
      label(middle, y - 28, '+4', of),
    ];
  };
  const words = Array.from({ length: 6 }, (_, row) =>
    label(
      STRIP_X + (((4 * row) % IN_LINE) + 2) * CW,
      STRIP_Y + Math.floor(row / 3) * STRIP_LINE + CH + 16,
      `token ${row + 1}`,
    ),
  );
  return [
    label(WIDTH / 2, 14, 'Q in memory: 24 numbers, row after row'),
    ...[0, 4].flatMap((from) => arc(from, 'of-h0')),
    ...arc(2, 'of-h1'),
    ...words,
  ];
}

/** @param {Numbers} numbers @param {number} step */
export function drawing({ x, weights, queries }, step) {
  /** @param {number[][]} rows */
  const largest = (rows) => Math.max(...rows.flat().map(Math.abs));
  /** @template T @param {number[][]} rows @param {(value: number, row: number, column: number) => T} draw */
  const each = (rows, draw) => rows.flatMap((row, i) => row.map((value, j) => draw(value, i, j)));
  const [mostX, mostW, mostQ] = [largest(x), largest(weights.flat()), largest(queries)];
  const cells = [
    ...[1, 0].flatMap((copy) =>
      each(x, (value, i, j) => cell(spotOfX(step, copy, i, j), value, 'x', mostX)),
    ),
    ...weights.flatMap((matrix, head) =>
      each(matrix, (value, i, j) => cell(spotOfWeight(step, head, i, j), value, `h${head}`, mostW)),
    ),
    ...each(queries, (value, i, j) => cell(spotOfQuery(step, i, j), value, `h${j >> 1}`, mostQ)),
  ];
  return html`<svg
    class="drawn"
    viewBox="0 0 ${WIDTH} ${HEIGHT}"
    role="img"
    aria-label="Step ${step + 1}: ${STEPS[step].words}"
  >
    <defs>
      <marker id="tip" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" markerHeight="6" orient="auto">
        <path d="M0 0L6 3L0 6z"></path>
      </marker>
    </defs>
    ${cells}${labels(step)}
  </svg>`;
}

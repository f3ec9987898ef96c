/**
 * The sentence and the outputs: tokens, shapes, both tables, and in the
 * example each module's maps beside its table.
 *
 * @import { Remote } from '../shared/connect.js'
 * @import { CompareWorker } from './worker/compare-worker.js'
 * @import { MapSource, Matrix, Summary, Token } from '../types.js'
 */

import { byId } from '../shared/dom.js';
import { formatCount, plural } from '../shared/format.js';
import { COMPARE_DEFAULTS } from './address.js';
import { linkWords } from '../shared/kept-texts.js';
import { showMaps } from '../shared/map-view.js';
import { matrixTable } from '../shared/matrix-table.js';
import { signWords } from '../shared/tokenize.js';
import { showTokens } from './token-strip.js';

/** @param {number[]} shape */
const formatShape = (shape) => `[${shape.map(formatCount).join(', ')}]`;

/** @param {string} id @param {string} words */
const say = (id, words) => {
  byId(id, HTMLElement).textContent = words;
};

/**
 * @param {string} id
 * @param {Matrix} matrix
 * @param {Token[]} tokens
 */
function showTable(id, matrix, tokens) {
  const rows = tokens.slice(0, matrix.rows).map(({ text }) => text);
  const caption = `Output ${formatShape(matrix.shape)}`;
  byId(id, HTMLElement).replaceChildren(matrixTable(matrix, { caption, rows }));
}

/** @param {Summary} summary */
export function showSentence({ tokens, inputs, distinct, width, settings }) {
  const n = tokens.length;
  showTokens(byId('tokens', HTMLElement), tokens, inputs);
  say(
    'token-count',
    `${plural(n, 'token')}, ${formatCount(distinct)} distinct${linkWords(settings.text)}.`,
  );
  say('token-signs', signWords(tokens));
  say(
    'embedding-words',
    settings.source === 'example'
      ? `The embeddings ${formatShape([n, width])} are the example’s own; the weights are drawn from the seed.`
      : `GPT-2’s tokens. Their embeddings ${formatShape([n, width])} are drawn by randn from the seed, a row for each distinct token, and the weights after them.`,
  );
  byId('untrained-note', HTMLElement).hidden = settings.source === 'example';
}

/**
 * @param {Summary} summary
 * @param {Remote<CompareWorker>} engine
 * @param {(row: number) => void} pin
 */
export async function showOutputs(summary, engine, pin) {
  const { tokens, heads, width, settings, notebook } = summary;
  const dOut = summary.wrapper.shape[1] / heads;
  const { seed, causal } = settings;
  say('outputs-title', notebook ? 'The example’s own two tables' : 'The outputs');
  say(
    'outputs-note',
    notebook
      ? `Here each module draws weights of its own from seed ${seed}, so the numbers differ.`
      : 'Both on the same weights.',
  );
  byId('printed-note', HTMLElement).hidden = !notebook || seed !== COMPARE_DEFAULTS.seed || !causal;
  const [each, joined] = heads > 1 ? [' each', ', concatenated'] : ['', ''];
  say('wrapper-how', `${plural(heads, 'module')},${each} ${width} → ${dOut} features${joined}.`);
  say(
    'fused-how',
    notebook
      ? `One module, ${width} → ${notebook.shape[1]} features, split into ${plural(heads, 'head')} of ${notebook.shape[1] / heads}, and an output projection.`
      : `One module, ${width} → ${heads * dOut} features, split into ${plural(heads, 'head')} of ${dOut}.`,
  );
  showTable('wrapper-table', summary.wrapper, tokens);
  showTable('fused-table', notebook ?? summary.fused, tokens);
  await Promise.all([
    showHeads('wrapper-maps', 'wrapper', 'wrapper', summary, engine, pin),
    showHeads('fused-maps', 'notebook', 'fused module', summary, engine, pin),
  ]);
}

/**
 * @param {string} id
 * @param {MapSource} source
 * @param {string} whose
 * @param {Summary} summary
 * @param {Remote<CompareWorker>} engine
 * @param {(row: number) => void} pin
 */
async function showHeads(id, source, whose, summary, engine, pin) {
  const room = byId(id, HTMLElement);
  if (!summary.notebook) {
    room.replaceChildren();
    return;
  }
  const { run, tokens, heads, settings } = summary;
  const maps = await Promise.all(
    Array.from({ length: heads }, async (_, head) => {
      const { values } = await engine.map({ run, source, head, size: tokens.length });
      const whole = `head H${head} of the ${whose}`;
      const name = `Attention weights of ${whole}`;
      return { head, values, name, caption: `Weights of ${whole}` };
    }),
  );
  showMaps(room, { maps, tokens: tokens.map(({ text }) => text), causal: settings.causal, pin });
}

/**
 * Marks the pinned row in the maps beside the tables too.
 *
 * @param {number} row
 */
export function pinInOutputs(row) {
  for (const room of document.querySelectorAll('.maps')) {
    for (const map of room.querySelectorAll('attention-map')) map.pinned = row;
  }
}

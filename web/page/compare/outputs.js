/**
 * The sentence and the outputs: tokens, shapes, both tables, and in the
 * example each module's maps beside its table.
 *
 * @import { Remote } from '../engine/connect.js'
 * @import { CompareWorker } from '../engine/engine-worker.js'
 * @import { MapSource, Matrix, Summary, Token } from '../types.js'
 */

import { AttentionMap } from '../../headwise/view.js';
import { byId, el } from '../dom.js';
import { formatCount, formatWeight, plural } from '../format.js';
import { DEFAULTS } from '../state.js';
import { showLegend } from '../parts/legend.js';
import { viewOf } from '../parts/map-view.js';
import { matrixTable } from '../parts/matrix-table.js';
import { showTokens } from '../parts/token-strip.js';

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
  say('token-count', `${plural(n, 'token')}, ${formatCount(distinct)} distinct`);
  say(
    'embedding-note',
    settings.source === 'example'
      ? `The embeddings ${formatShape([n, width])} are the notebooks’ own; the weights are drawn from the seed.`
      : `GPT-2’s tokens. Their embeddings ${formatShape([n, width])} are drawn by randn from the seed, a row for each distinct token, and the weights after them. Nothing here is trained, so the patterns are noise until a trained model is loaded.`,
  );
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
  const printed = seed === DEFAULTS.seed && causal;
  say(
    'outputs-note',
    notebook
      ? `Each module draws its own weights from seed ${seed}${printed ? ', and gives the tables that the notebooks print.' : '.'}`
      : 'Both on the same weights.',
  );
  say('wrapper-how', `${plural(heads, 'module')}, each ${width} → ${dOut} features, concatenated.`);
  say(
    'fused-how',
    notebook
      ? `One module, ${width} → ${notebook.shape[1]} features, split into ${plural(heads, 'head')} of ${notebook.shape[1] / heads}, and an output projection.`
      : `One module, ${width} → ${heads * dOut} features, split into ${plural(heads, 'head')} of ${dOut}.`,
  );
  showTable('wrapper-table', summary.wrapper, tokens);
  showTable('fused-table', notebook ?? summary.fused, tokens);
  await Promise.all([
    showMaps('wrapper-maps', 'wrapper', 'wrapper', summary, engine, pin),
    showMaps('fused-maps', 'notebook', 'fused module', summary, engine, pin),
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
async function showMaps(id, source, whose, summary, engine, pin) {
  const room = byId(id, HTMLElement);
  if (!summary.notebook) {
    room.replaceChildren();
    return;
  }
  const { run, tokens, heads, settings } = summary;
  const n = tokens.length;
  const calls = Array.from({ length: heads }, (_, head) =>
    engine.map({ run, source, head, size: n }),
  );
  const maps = await Promise.all(calls);
  // The elements stay from run to run, so that focus does.
  const figures = [...room.querySelectorAll('figure')];
  while (figures.length < heads) {
    const map = new AttentionMap();
    map.toggleAttribute('compact', true);
    map.addEventListener('pin', (event) => pin(/** @type {CustomEvent<number>} */ (event).detail));
    const caption = el('figcaption', {}, `Head H${figures.length}`);
    const behind = el('div', { class: 'visually-hidden' });
    figures.push(el('figure', {}, caption, map, behind));
  }
  const legend = el('div');
  room.replaceChildren(...figures, legend);
  const names = tokens.map(({ text }) => text);
  figures.forEach((figure, head) => {
    const map = /** @type {AttentionMap} */ (figure.children[1]);
    const { values } = maps[head];
    const name = `head H${head} of the ${whose}`;
    map.show({
      ...viewOf({ ...maps[head], causal: settings.causal }),
      tokens: names,
      max: 1,
      name: `Attention weights of ${name}`,
    });
    figure.children[2].replaceChildren(
      matrixTable(
        { shape: [n, n], rows: n, cols: n, values },
        {
          caption: `Weights of ${name}`,
          rows: names,
          cols: names,
          corner: 'query \\ key',
          format: formatWeight,
        },
      ),
    );
  });
  showLegend(legend, {
    max: 1,
    what: 'attention weight',
    masked: settings.causal,
  });
}

/**
 * Marks the pinned row in the maps beside the tables too.
 *
 * @param {number} row
 */
export function pinInOutputs(row) {
  for (const map of document.querySelectorAll('.maps attention-map')) {
    /** @type {AttentionMap} */ (map).pinned = row;
  }
}

/**
 * The measured parts of a model's README.md. Each stands between <!-- name --> and <!-- /name -->.
 *
 * @import { ModelScores, Scores } from './scores.js'
 */

/** Layers and heads are counted from 0. @param {number} layer @param {number} head */
export const nameOf = (layer, head) => `L${layer}H${head}`;

/**
 * @param {readonly string[]} titles
 * @param {readonly (readonly (string | number)[])[]} rows the first cell is the row's name
 */
export function tableOf(titles, rows) {
  const lines = [titles, ['---', ...titles.slice(1).map(() => '---:')], ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** @param {readonly Scores[][]} heads */
export function headTable(heads) {
  const names = Object.keys(heads[0][0]);
  const rows = heads.flatMap((layer, l) =>
    layer.map((scores, h) => [nameOf(l, h), ...names.map((name) => scores[name].toFixed(2))]),
  );
  return tableOf(['head', ...names], rows);
}

/** @param {ModelScores} scores */
export const scorePart = ({ heads, loss_first: first, loss_again: again }) =>
  `${headTable(heads)}\n\nLoss on random tokens, in nats: ${first} the first time, ${again} when they come again.`;

/** @param {Record<string, unknown>} facts */
export const listOf = (facts) =>
  Object.entries(facts)
    .map(([name, value]) => `- ${name.replaceAll('_', ' ')}: ${value}`)
    .join('\n');

/**
 * @param {string} card
 * @param {Record<string, string>} parts in Markdown
 */
export function renewed(card, parts) {
  let text = card;
  for (const [name, part] of Object.entries(parts)) {
    const [begin, end] = [`<!-- ${name} -->\n`, `<!-- /${name} -->`];
    const [from, to] = [text.indexOf(begin), text.indexOf(end)];
    if (from < 0 || to < from) throw new Error(`The card has no part ${begin.trim()} … ${end}.`);
    text = `${text.slice(0, from + begin.length)}${part}\n${text.slice(to)}`;
  }
  return text;
}

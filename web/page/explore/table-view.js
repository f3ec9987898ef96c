/**
 * The table behind the map: all weights while they can be read, else the row of the token in question.
 *
 * @import { Explorer } from './explorer.js'
 */

import { formatCount } from '../shared/format.js';
import { signal } from '../shared/signals.js';
import { drawn, html } from '../shared/template.js';
import { lineTable, TABLE_TOKENS, wholeTable } from '../shared/weights-table.js';
import { Asked } from './asked.js';

/** @param {Explorer} room */
export function tableView(room) {
  const isOpen = signal(false);
  const whole = new Asked(room, ({ n }) => {
    const [what, title] = [room.what.value, room.title.value];
    if (!isOpen.value || n > TABLE_TOKENS) return undefined;
    /** @type {[number, number]} */
    const all = [0, n];
    const region = { queries: all, keys: all, height: n, width: n };
    return async () => ({ title, ...(await room.session.region('table', what, region)) });
  });

  const table = () => {
    const run = room.run.value;
    if (!isOpen.value || !run) return '';
    const { n, tokens, causal } = run;
    const named = { names: tokens.map(({ text }, i) => `${text} ${i + 1}`), causal };
    if (n <= TABLE_TOKENS) {
      const answer = whole.answer.value;
      return answer?.run === run ? wholeTable(answer.values, named, answer.title) : '';
    }
    const line = room.line.answer.value;
    if (line?.run !== run) return '';
    const { side, token } = line.subject;
    const name = `“${tokens[token].text}” (${formatCount(token + 1)})`;
    const caption = `${line.title}. Too large to read as a whole: what ${name} ${side === 'query' ? 'attends to' : 'is attended to by'}.`;
    return lineTable(line.line, named, { side, token, caption });
  };

  return html`<details id="explore-table"
    @toggle=${(/** @type {ToggleEvent} */ { currentTarget }) => {
      isOpen.value = /** @type {HTMLDetailsElement} */ (currentTarget).open;
    }}>
    <summary><h2 id="explore-table-title">The weights as a table</h2></summary>
    <div class="table-room" tabindex="0" role="group" aria-label="Weights">${drawn(table)}</div>
  </details>`;
}

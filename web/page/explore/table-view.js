/**
 * The table behind the map: all weights while they can be read, else the row of the token in question.
 *
 * @import { Explorer } from './explorer.js'
 */

import { formatCount, formatWeight } from '../shared/format.js';
import { matrixTable } from '../shared/matrix-table.js';
import { signal } from '../shared/signals.js';
import { drawn, html } from '../shared/template.js';
import { Asked } from './asked.js';

/** Up to here a whole map fits into a table that can be read. */
const TABLE_TOKENS = 48;

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
    const names = tokens.map(({ text }, i) => `${text} ${i + 1}`);
    const write = (
      /** @type {number} */ value,
      /** @type {number} */ query,
      /** @type {number} */ key,
    ) => (causal && key > query ? '–' : formatWeight(value));
    if (n <= TABLE_TOKENS) {
      const answer = whole.answer.value;
      if (answer?.run !== run) return '';
      return matrixTable(
        { shape: [n, n], rows: n, cols: n, values: answer.values },
        {
          caption: `${answer.title}. A row is a query, a column a key; – is masked.`,
          rows: names,
          cols: names,
          corner: 'query \\ key',
          format: write,
        },
      );
    }
    const line = room.line.answer.value;
    if (line?.run !== run) return '';
    const { side, token } = line.subject;
    const isQuery = side === 'query';
    const name = `“${tokens[token].text}” (${formatCount(token + 1)})`;
    return matrixTable(
      { shape: [n, 1], rows: n, cols: 1, values: line.line },
      {
        caption: `${line.title}. Too large to read as a whole: what ${name} ${isQuery ? 'attends to' : 'is attended to by'}.`,
        rows: names,
        cols: ['weight'],
        corner: isQuery ? 'key' : 'query',
        format: (value, at) => (isQuery ? write(value, token, at) : write(value, at, token)),
      },
    );
  };

  return html`<details id="explore-table"
    @toggle=${(/** @type {ToggleEvent} */ { currentTarget }) => {
      isOpen.value = /** @type {HTMLDetailsElement} */ (currentTarget).open;
    }}>
    <summary><h2 id="explore-table-title">The weights as a table</h2></summary>
    <div class="table-room" tabindex="0" role="group" aria-label="Weights">${drawn(table)}</div>
  </details>`;
}

/**
 * The text twice, and lines from each token to what it attends to: those that carry a chosen share of its row. Only what
 * is scrolled into view is drawn.
 *
 * @import { Pin } from './address.js'
 * @import { Explorer } from './explorer.js'
 * @import { RunSummary } from './session.js'
 */

import { formatCount, plural } from '../format.js';
import { computed, derived, effect, signal } from '../signals.js';
import { drawn, html, made, svg, taking } from '../template.js';
import { Asked } from './asked.js';
import { curveOf, pinnedOn, topEdges } from './edges.js';

/** Lines are as high as shows the whole text, within these bounds. */
const LEAST_LINE_PX = 15;
const MOST_LINE_PX = 24;
const MOST_PX = 600;
/** More lines of all tokens are a blur, and slow. */
const MOST_LINES = 2000;

/** @param {number} share */
const percent = (share) => `${(100 * share).toFixed(1)} %`;

/** @param {Event} event @returns {number} the token; NaN: none */
const tokenAt = ({ target }) =>
  target instanceof HTMLElement ? Number(target.dataset.at ?? NaN) : NaN;

/** The share that lines carry. @param {Explorer} room */
export const shareChoice = (room) =>
  drawn(() => {
    const { topP } = room.shown.value;
    const words = `at least ${Math.round(100 * topP)} %`;
    return html`<label for="explore-topp">Lines carry</label>
      <input
        id="explore-topp"
        type="range"
        min="0.05"
        max="1"
        step="0.05"
        .value=${String(topP)}
        aria-valuetext=${words}
        @input=${taking(({ value }) => room.set({ topP: Number(value) }))}
      />
      <output id="explore-topp-value" for="explore-topp">${words}</output>`;
  });

/** @param {Explorer} room */
export function linesView(room) {
  const { focus, place, pins, run, what, title, choices } = room;
  const owner = {};
  /** What is seen of them, in CSS pixels. */
  const seen = signal({ top: 0, width: 0, height: 0 });
  const lineHeight = derived(() =>
    Math.max(LEAST_LINE_PX, Math.min(MOST_LINE_PX, MOST_PX / (run.value?.n ?? 1))),
  );
  /** Tokens in view: the first, and past the last. */
  const visible = derived(() => {
    const { top, height } = seen.value;
    const line = lineHeight.value;
    return [
      Math.max(0, Math.floor(top / line) - 1),
      Math.min(run.value?.n ?? 0, Math.ceil((top + (height || MOST_PX)) / line) + 1),
    ];
  });
  const rows = new Asked(room, () => {
    const [[start, end], map, name] = [visible.value, what.value, title.value];
    const queries = Array.from({ length: end - start }, (_, i) => start + i);
    return async () => ({
      name,
      rows: await Promise.all(queries.map((query) => room.session.row(map, query))),
      start,
    });
  });
  const topP = derived(() => room.shown.value.topP);
  const edges = computed(() => {
    const { rows: all = [], start = 0 } = rows.answer.value ?? {};
    return all.map((row, i) => ({ query: start + i, ...topEdges(row, topP.value) }));
  });

  /** What is drawn strongly: what is pointed at, else pinned. */
  const chosen = computed(() => {
    const { query, key } = place.value;
    if (query >= 0 || key >= 0)
      return { query: new Set([query]), key: new Set(query < 0 ? [key] : []), isAny: true };
    return {
      query: pinnedOn(pins.value, 'query'),
      key: pinnedOn(pins.value, 'key'),
      isAny: pins.value.length > 0,
    };
  });

  /** @param {HTMLElement} scroll */
  const follow = (scroll) => {
    const measure = () => {
      const { scrollTop: top, clientWidth: width, clientHeight: height } = scroll;
      seen.value = { top, width, height };
    };
    scroll.addEventListener('scroll', measure);
    new ResizeObserver(measure).observe(scroll);
    /** @param {number} token */
    const reveal = (token) => {
      const [top, line] = [token * lineHeight.peek(), lineHeight.peek()];
      const { scrollTop, clientHeight } = scroll;
      if (top < scrollTop || top + line > scrollTop + clientHeight) {
        scroll.scrollTop = top - clientHeight / 2;
      }
    };
    effect(() => {
      const { query } = place.value;
      if (query >= 0 && !scroll.matches(':hover')) reveal(query);
    });
    effect(() => {
      const last = pins.value.at(-1);
      if (last) reveal(last.token);
    });
  };

  /** The lines that are drawn, and what is said of those that are not. */
  const shown = computed(() => {
    const { query: queries, key: keys, isAny } = chosen.value;
    const all = [];
    let most = 0;
    for (const { query, edges: own, rest } of edges.value) {
      const isChosen = !isAny || queries.has(query);
      if (isChosen) most = Math.max(most, rest);
      for (const { key, weight } of own) {
        if (isChosen || keys.has(key)) all.push({ query, key, weight });
      }
    }
    if (!isAny && all.length > MOST_LINES) {
      const lines = all.toSorted((a, b) => b.weight - a.weight).slice(0, MOST_LINES);
      const note = `The ${formatCount(MOST_LINES)} strongest of ${plural(all.length, 'line')} in view; choose a token to see all of its own.`;
      return { lines, note };
    }
    const [each, upTo] = queries.size === 1 ? ['Its', ''] : ['Each token’s', 'up to '];
    const note = `${each} lines carry at least ${percent(topP.value)} of its attention; ${upTo}${percent(most)} is not shown.`;
    return { lines: all, note };
  });

  /** @param {Pin['side']} side @param {Set<number>} strong */
  const labels = (side, strong) => {
    const { tokens } = /** @type {RunSummary} */ (run.value);
    const [first, end] = visible.value;
    return html`<div
      class="lines-side ${side === 'query' ? 'queries' : 'keys'}"
      @pointerover=${(/** @type {Event} */ event) => {
        if (tokenAt(event) >= 0) focus.set({ [side]: tokenAt(event) }, owner);
      }}
      @pointerleave=${() => focus.clear(owner)}
      @click=${(/** @type {Event} */ event) => {
        if (tokenAt(event) >= 0) choices.pin({ side, token: tokenAt(event) });
      }}
    >
      ${tokens.slice(first, end).map(({ text }, i) => {
        const at = first + i;
        return html`<div
          data-at=${at}
          class=${strong.has(at) ? 'strong' : ''}
          style="top: ${at * lineHeight.value}px"
          .textContent=${text}
        ></div>`;
      })}
    </div>`;
  };

  const curves = () => {
    const { width } = seen.value;
    const line = lineHeight.value;
    const [first, end] = visible.value;
    const sides = { left: 0.36 * width, right: 0.64 * width };
    const yOf = (/** @type {number} */ token) => (token + 0.5 - first) * line;
    const { lines } = shown.value;
    const name = rows.answer.value?.name ?? '';
    return html`<svg
      role="img"
      aria-label="${plural(lines.length, 'line')}, ${name}"
      width=${width}
      height=${(end - first) * line}
      style="top: ${first * line}px"
    >
      ${lines.map(({ query, key, weight }) => {
        const curve = curveOf(sides, yOf(query), yOf(key), weight);
        return svg`<path d=${curve.d} stroke-opacity=${curve['stroke-opacity']} stroke-width=${curve['stroke-width']}></path>`;
      })}
    </svg>`;
  };

  const lines = () => {
    if (!run.value) return '';
    const height = run.value.n * lineHeight.value;
    const { query, key } = chosen.value;
    const keys = new Set([...key, place.value.key]);
    return html`<div
        class="lines"
        tabindex="0"
        role="group"
        aria-label="Lines from queries to keys, ${title.value}"
        style="height: ${Math.min(height, MOST_PX) + 2}px"
        ${made(follow)}
      >
        <div class="lines-inner" style="--line: ${lineHeight.value}px; height: ${height}px">
          ${labels('query', query)}${labels('key', keys)}${curves()}
        </div>
      </div>
      <p class="note">${shown.value.note}</p>`;
  };

  return html`<div id="explore-lines">
    <div class="lines-heads note" aria-hidden="true">
      <span>query (attends from)</span><span>key (attended to)</span>
    </div>
    ${drawn(lines)}
  </div>`;
}

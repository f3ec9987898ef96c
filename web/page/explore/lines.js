/**
 * The text twice, and lines from each token to what it attends to: those that carry a chosen share of its row. Only what
 * is scrolled into view is drawn.
 *
 * @import { Pin } from './address.js'
 * @import { Explorer } from './explorer.js'
 * @import { RunSummary } from './session.js'
 *
 * @typedef {ReturnType<typeof createLines>} Lines
 */

import { formatCount, plural } from '../shared/format.js';
import { isSameHead, shortName } from '../shared/head-names.js';
import { computed, derived, effect, signal } from '../shared/signals.js';
import { drawn, html, made, svg, taking } from '../shared/template.js';
import { isOfHead } from './address.js';
import { Asked } from './asked.js';
import { curveOf, leastWords, pinnedOn, restWords, topEdges } from './edges.js';
import { leavingTo } from './leaving-to.js';
import { linedMaps } from './maps.js';
import { colourOf, headColour } from './pin-colours.js';

/** Lines are as high as shows the whole text, within these bounds. */
const LEAST_LINE_PX = 15;
const MOST_LINE_PX = 24;
const MOST_PX = 600;
/** More lines of all tokens are a blur, and slow. */
const MOST_LINES = 2000;

/** @param {Event} event @returns {number} the token; NaN: none */
const tokenAt = ({ target }) =>
  target instanceof HTMLElement ? Number(target.dataset.at ?? NaN) : NaN;

/** The share that lines carry. @param {Explorer} room */
export const shareChoice = (room) =>
  drawn(() => {
    const { topP } = room.shown.value;
    const words = leastWords(topP);
    return html`<label for="explore-topp">Lines carry</label>
      <input id="explore-topp" type="range" min="0.05" max="1" step="0.05" .value=${String(topP)}
        aria-valuetext=${words} @input=${taking(({ value }) => room.set({ topP: Number(value) }))} />
      <output id="explore-topp-value" for="explore-topp">${words}</output>`;
  });

/** Which heads' lines are drawn, in their colours. @param {Explorer} room */
export const overlayChoice = (room) =>
  drawn(() => {
    const { overlay } = room.shown.value;
    const isIn = room.state.value.overlay.some((name) => isSameHead(name, room.shown.value));
    const names = [room.title.value, ...overlay.map(shortName)];
    return html`<div class="overlay" id="explore-overlay">
      ${names.map(
        (name, i) =>
          html`<span><span class="swatch" style="background: ${headColour(i)}"></span>${name}${
            i === 0
              ? ''
              : html` <button type="button" class="quiet" aria-label="Hide the lines of ${name}"
                  @click=${() => room.choices.overlay(overlay[i - 1])} ${leavingTo('explore-overlay-add')}>×</button>`
          }</span>`,
      )}
      <button type="button" class="quiet" id="explore-overlay-add" ?hidden=${!isOfHead(room.shown.value.of)}
        aria-pressed=${isIn} title="Its lines stay, in a colour of their own, when another head is chosen"
        @click=${() => room.choices.overlay()}>Keep ${shortName(room.shown.value)}’s lines</button>
    </div>`;
  });

/** What lines carry shares of: weights that are the largest of several heads, or times a norm, are no attention of a token's. @param {Explorer} room */
const wholeOf = ({ shown }) => (['max', 'norms'].includes(shown.value.of) ? 'row' : 'attention');

/** What is drawn where a key is chosen and no query. @param {number} topP @param {string} whole */
const toKeyWords = (topP, whole) =>
  `Only lines to the chosen key, of those that carry ${leastWords(topP)} of each token’s ${whole}.`;

/**
 * The lines, and what is said of those that are not drawn.
 *
 * @param {readonly { map: number, query: number, edges: { key: number, weight: number }[], rest: number }[]} edges of
 *   each query in view
 * @param {{ query: ReadonlySet<number>, key: ReadonlySet<number>, isAny: boolean }} chosen whose lines are drawn;
 *   not isAny: everyone's
 * @param {{ topP: number, whole: string }} what lines carry
 */
function drawnOf(edges, { query: queries, key: keys, isAny }, { topP, whole }) {
  const isAll = (/** @type {number} */ query) => !isAny || queries.has(query);
  const lines = edges.flatMap(({ map, query, edges: own }) =>
    own
      .filter(({ key }) => isAll(query) || keys.has(key))
      .map(({ key, weight }) => ({ map, query, key, weight })),
  );
  if (!isAny && lines.length > MOST_LINES) {
    const strongest = lines.toSorted((a, b) => b.weight - a.weight).slice(0, MOST_LINES);
    const note = `The ${formatCount(MOST_LINES)} strongest of ${plural(lines.length, 'line')} in view; choose a token to see all of its own.`;
    return { lines: strongest, note };
  }
  if (isAny && ![...queries].some((query) => query >= 0))
    return { lines, note: toKeyWords(topP, whole) };
  const rests = edges.filter(({ query }) => isAll(query)).map(({ rest }) => rest);
  if (rests.length === 0) return { lines, note: '' }; // not here yet, or out of view
  const [each, upTo] = queries.size === 1 ? ['Its', ''] : ['Each token’s', 'up to '];
  const note = `${each} lines carry ${leastWords(topP)} of its ${whole}; ${restWords(Math.max(...rests), upTo)}`;
  return { lines, note };
}

/** What is to be drawn of them. @param {Explorer} room */
function createLines(room) {
  const { run, title, place, pins, shown, session } = room;
  /** What is seen of them, in CSS pixels. */
  const seen = signal({ top: 0, width: 0, height: 0 });
  const line = computed(() =>
    Math.max(LEAST_LINE_PX, Math.min(MOST_LINE_PX, MOST_PX / (run.value?.n ?? 1))),
  );
  /** Tokens in view: the first, and past the last. */
  const visible = derived(() => {
    const [n, height] = [run.value?.n ?? 0, seen.value.height || MOST_PX];
    // The browser has not yet scrolled back where another text ends.
    const top = Math.max(0, Math.min(seen.value.top, n * line.value - height));
    const end = Math.ceil((top + height) / line.value) + 1;
    return [Math.max(0, Math.floor(top / line.value) - 1), Math.min(n, end)];
  });
  /** The chosen map's lines, and those of heads that are drawn over them. */
  const rows = new Asked(room, () => {
    const [[start, end], name] = [visible.value, title.value];
    const maps = linedMaps(shown.value);
    const queries = Array.from({ length: end - start }, (_, i) => start + i);
    return async () => {
      const all = await Promise.all(
        maps.map((one) => Promise.all(queries.map((query) => session.row(one, query)))),
      );
      return { name, start, rows: all };
    };
  });
  const topP = computed(() => shown.value.topP);
  const edges = computed(() => {
    const { rows: all = [], start = 0 } = rows.answer.value ?? {};
    return all.flatMap((own, map) =>
      own.map((row, i) => ({ map, query: start + i, ...topEdges(row, topP.value) })),
    );
  });

  /** Whose lines are drawn: what is pointed at, else pinned. */
  const chosen = computed(() => {
    const { query, key } = place.value;
    if (query >= 0 || key >= 0)
      return { query: new Set([query]), key: new Set(query < 0 ? [key] : []), isAny: true };
    const [queries, keys] = [pinnedOn(pins.value, 'query'), pinnedOn(pins.value, 'key')];
    return { query: queries, key: keys, isAny: pins.value.length > 0 };
  });

  const drawnNow = computed(() =>
    drawnOf(edges.value, chosen.value, { topP: topP.value, whole: wholeOf(room) }),
  );
  return { seen, line, visible, rows, chosen, drawnNow };
}

/** Measures what is seen, and scrolls to what is pointed at elsewhere, and pinned. @param {HTMLElement} scroll @param {Explorer} room @param {Lines} lines */
function follow(scroll, { place, pins }, { seen, line }) {
  const measure = () => {
    const { scrollTop: top, clientWidth: width, clientHeight: height } = scroll;
    seen.value = { top, width, height };
  };
  scroll.addEventListener('scroll', measure);
  new ResizeObserver(measure).observe(scroll);
  const reveal = (/** @type {number} */ token) => {
    const top = token * line.peek();
    const { scrollTop, clientHeight } = scroll;
    if (top < scrollTop || top + line.peek() > scrollTop + clientHeight) {
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
}

/** @param {Explorer} room @param {Lines} lines @param {Pin['side']} side @param {Set<number>} strong */
function labels({ run, focus, choices, pins }, { visible, line }, side, strong) {
  const pinOf = (/** @type {number} */ token) =>
    pins.value.find((pin) => pin.side === side && pin.token === token);
  const { tokens } = /** @type {RunSummary} */ (run.value);
  const [first, end] = visible.value;
  const point = (/** @type {Event} */ event) => {
    if (tokenAt(event) >= 0) focus.set({ [side]: tokenAt(event) }, labels);
  };
  const pin = (/** @type {MouseEvent} */ event) => {
    const token = tokenAt(event);
    if (token >= 0) choices.pin({ side, token }, event.ctrlKey || event.metaKey);
  };
  return html`<div translate="no" class="lines-side ${side === 'query' ? 'from' : 'to'}"
    @pointerover=${point} @pointerleave=${() => focus.clear(labels)} @click=${pin}>
    ${tokens.slice(first, end).map(({ text }, i) => {
      const pinned = pinOf(first + i);
      const colour = pinned ? colourOf(pins.value, pinned) : 'inherit';
      return html`<div data-at=${first + i} class=${strong.has(first + i) ? 'strong' : ''}
          style="top: ${(first + i) * line.value}px; color: ${colour}">${text}</div>`;
    })}
  </div>`;
}

/** @param {Lines} lines */
function curves({ seen, line, visible, rows, drawnNow }) {
  const { width } = seen.value;
  const [first, end] = visible.value;
  const sides = { left: 0.36 * width, right: 0.64 * width };
  const yOf = (/** @type {number} */ token) => (token + 0.5 - first) * line.value;
  const { lines } = drawnNow.value;
  const name = `${plural(lines.length, 'line')}, ${rows.answer.value?.name ?? ''}`;
  const height = (end - first) * line.value;
  // On paper it is as wide as the sheet.
  return html`<svg role="img" aria-label=${name} viewBox="0 0 ${width} ${height}" preserveAspectRatio="none"
    style="top: ${first * line.value}px; height: ${height}px">
    ${lines.map(({ map, query, key, weight }) => {
      const curve = curveOf(sides, yOf(query), yOf(key), weight);
      return svg`<path d=${curve.d} stroke-opacity=${curve['stroke-opacity']}
        stroke-width=${curve['stroke-width']} style="stroke: ${headColour(map)}"></path>`;
    })}
  </svg>`;
}

/**
 * Of a text that is scrolled, what is on a sheet of paper.
 *
 * @param {{ top: number, height: number }} seen
 * @param {number} line its height
 * @param {number} n tokens
 */
function seenWords({ top, height }, line, n) {
  const [first, last] = [Math.ceil(top / line) + 1, Math.floor((top + height) / line)];
  return n * line > MOST_PX
    ? `Tokens ${formatCount(first)} to ${formatCount(last)} of ${formatCount(n)}.`
    : '';
}

/** @param {Explorer} room */
export function linesView(room) {
  const lines = createLines(room);
  const { chosen, line, drawnNow } = lines;
  const view = () => {
    if (!room.run.value) return '';
    const { n } = room.run.value;
    const height = n * line.value;
    const { query, key } = chosen.value;
    return html`<div class="lines" tabindex="0" role="group"
        aria-label="Lines from queries to keys, ${room.title.value}"
        style="height: ${Math.min(height, MOST_PX) + 2}px" ${made(follow, room, lines)}>
        <div class="lines-inner" style="--line: ${line.value}px; height: ${height}px">
          ${labels(room, lines, 'query', query)}
          ${labels(room, lines, 'key', new Set([...key, room.place.value.key]))} ${curves(lines)}
        </div>
      </div>
      <p class="note">${drawnNow.value.note}</p>
      <p class="note on-paper">${seenWords(lines.seen.value, line.value, n)}</p>`;
  };
  return html`<div id="explore-lines">
    <div class="lines-heads note" aria-hidden="true">
      <span>query (attends from)</span><span>key (attended to)</span>
    </div>
    ${drawn(view)}
  </div>`;
}

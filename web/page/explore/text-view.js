/**
 * The text, each token tinted by what the token in question attends to, or is attended to by.
 *
 * @import { Signal } from '../shared/signals.js'
 * @import { Token } from '../types.js'
 * @import { Explorer } from './explorer.js'
 */

import { formatCount, formatList } from '../shared/format.js';
import { NEWLINE, SPACE } from '../shared/signs.js';
import { signWords } from '../shared/tokenize.js';
import { computed, effect, signal } from '../shared/signals.js';
import { drawn, html, made, nothing, select } from '../shared/template.js';
import { quoted } from './bars.js';
import { wholeCharacters } from './characters.js';
import { percent } from './next-token.js';
import { colourOf } from './pin-colours.js';
import { isSkipped } from './waiting.js';

/** The strongest tint leaves the text readable. */
export const STRONGEST = 45;

/** So many nats are the strongest tint of a token that was not predicted. */
export const WORST = 8;

/** How many of a line's weights are told, and how large they must be. */
const TOLD = 3;
const LEAST_TOLD = 0.005;

/** A token of more characters may be broken over lines. */
const LONG = 20;

/** A token of so few characters may be too narrow for a finger. */
const NARROW = 2;

/**
 * A token as text reads: a leading space stands before it, and lines are broken where the text breaks them.
 *
 * @param {Token} token
 * @param {boolean} isApart whether a space stands before each
 * @param {{ at?: number, classes: unknown[], pin?: string, isStop?: boolean, tint?: number, title?: string }} how at: left
 *   out: it is not yet part of the text; pin: its colour, if it is pinned
 */
function tokenOf(
  { text, isSpecial, ...token },
  isApart,
  { at, classes, pin, isStop, tint = 0, title },
) {
  const hasSpace = text.startsWith(SPACE) && text.length > 1;
  const words = hasSpace ? text.slice(1) : text;
  const size = words.length <= NARROW ? 'narrow' : words.length > LONG && 'long';
  const all = [...classes, size, isSpecial && 'special'].filter(Boolean);
  // Firefox breaks no line between tokens without being told that it may.
  const space = isApart || token.isApart || hasSpace ? ' ' : html`<wbr />`;
  const end = text.includes(NEWLINE) ? html`<br />` : '';
  return html`${space}<span role="option" tabindex=${isStop ? 0 : -1} data-at=${at ?? nothing}
    aria-selected=${pin !== undefined} title=${title ?? nothing}
    class=${all.join(' ')} style="--tint: ${tint}%; --pin: ${pin ?? 'var(--accent)'}">${words}</span>${end}`;
}

/** @param {Float32Array} weights @returns {number[]} in hundredths */
export function tintsOf(weights) {
  const most = weights.reduce((largest, weight) => Math.max(largest, Math.abs(weight)), 0);
  return Array.from(weights, (weight) =>
    most > 0 ? Math.round((STRONGEST * Math.abs(weight)) / most) : 0,
  );
}

/** @param {Event} event @returns {number} the token; −1: none that is part of the text */
const tokenAt = ({ target }) => Number((target instanceof HTMLElement && target.dataset.at) || -1);

/** The token in the line above or below. @param {HTMLElement} text @param {number} at @param {1 | -1} way */
function lineFrom(text, at, way) {
  const boxes = [...text.querySelectorAll('[data-at]')].map((one) => one.getBoundingClientRect());
  const { left, top } = boxes[at];
  const others = boxes.filter((box) => way * (box.top - top) > 2).map((box) => box.top);
  if (others.length === 0) return at;
  const line = way > 0 ? Math.min(...others) : Math.max(...others);
  const far = (/** @type {number} */ i) =>
    Math.abs(boxes[i].top - line) > 2 ? Infinity : Math.abs(boxes[i].left - left);
  return boxes.reduce((best, _, i) => (far(i) < far(best) ? i : best), 0);
}

/** What is done to the text. @param {Explorer} room @param {Signal<number>} stop the token that Tab reaches */
function actionsOf({ focus, choices, run }, stop) {
  /** @param {number} at @param {{ shiftKey: boolean, ctrlKey: boolean, metaKey: boolean }} event */
  const choose = (at, { shiftKey, ctrlKey, metaKey }) => {
    if (at < 0) return;
    stop.value = at;
    choices.pin({ side: shiftKey ? 'key' : 'query', token: at }, ctrlKey || metaKey);
  };
  return {
    point(/** @type {Event} */ event) {
      const target = /** @type {Element} */ (event.target);
      const isMeant = event.type !== 'focusin' || target.matches(':focus-visible');
      if (tokenAt(event) < 0) return;
      if (event.type === 'focusin') stop.value = tokenAt(event);
      if (isMeant) focus.set({ query: tokenAt(event) }, stop);
    },
    leave: () => focus.clear(stop),
    click: (/** @type {MouseEvent} */ event) => choose(tokenAt(event), event),
    /** Shift pins a key, and selects no text. @param {PointerEvent} event */
    down: (event) => event.shiftKey && event.preventDefault(),
    key(/** @type {KeyboardEvent} */ event) {
      if (event.altKey) return;
      const last = (run.peek()?.n ?? 1) - 1;
      const at = Math.min(stop.value, last);
      const text = /** @type {HTMLElement} */ (event.currentTarget);
      /** @type {Record<string, number>} */
      const places = {
        ...{ ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last },
        ...{ ArrowUp: lineFrom(text, at, -1), ArrowDown: lineFrom(text, at, 1) },
      };
      if (event.key === 'Enter' || event.key === ' ') {
        choose(at, event);
      } else if (event.key in places && !event.ctrlKey && !event.metaKey) {
        stop.value = Math.max(0, Math.min(last, places[event.key]));
        /** @type {HTMLElement} */ (text.querySelector('[tabindex="0"]')).focus();
      } else {
        return;
      }
      event.preventDefault();
    },
  };
}

/** Losses, each as a share of what is as bad as can be said, in hundredths. @param {Float32Array} losses */
export const lossTints = (losses) => [
  0,
  ...Array.from(losses, (loss) => Math.round(STRONGEST * Math.min(1, loss / WORST))),
];

/** What tints the text, and is said of each token. @param {Explorer} room */
function tintsNow({ run, line, losses, shown }) {
  const [answer, known] = [line.answer.value, losses.answer.value];
  if (shown.value.tint === 'loss') {
    const all = known?.run === run.value ? known?.found?.losses : undefined;
    const title = (/** @type {number} */ at) =>
      at > 0 && all
        ? `loss ${all[at - 1].toFixed(2)}: predicted with probability ${percent(Math.exp(-all[at - 1]))}`
        : undefined;
    return { tints: all ? lossTints(all) : [], title };
  }
  const tints = answer?.run === run.value && answer ? tintsOf(answer.line) : [];
  return { tints, about: answer?.subject.token, title: () => undefined };
}

/** @param {Explorer} room @param {number} stop the token that Tab reaches @param {readonly string[]} wholes */
function tokensOf(room, stop, wholes) {
  const { run, place, pins, isApart, draft } = room;
  const now = run.value;
  if (!now) return '';
  const { tints, title, about } = tintsNow(room);
  const colours = new Map(pins.value.map((pin) => [pin.token, colourOf(pins.value, pin)]));
  const begun = draft.value?.run === now ? draft.value.tokens : [];
  const tokens = now.tokens.map((token, at) => {
    const classes = [
      at >= now.n - now.written && 'written',
      at === about && 'about',
      at === place.value.query && 'is-query',
      at === place.value.key && 'is-key',
    ];
    const isStop = at === Math.min(stop, now.n - 1);
    const told = [wholes[at] && `part of ${wholes[at]}`, title(at)].filter(Boolean).join('; ');
    const shown = { isStop, tint: tints[at], title: told || undefined };
    const how = { at, classes, pin: colours.get(at), ...shown };
    return tokenOf(token, isApart.value, how);
  });
  return [
    ...tokens,
    ...begun.map((token) => tokenOf(token, isApart.value, { classes: ['written'] })),
  ];
}

/** Brings a token into sight, within the text alone. @param {HTMLElement} text @param {number} at */
function reveal(text, at) {
  const token = text.querySelector(`[data-at="${at}"]`);
  if (!token || text.matches(':hover') || text.contains(document.activeElement)) return;
  const [box, room] = [token.getBoundingClientRect(), text.getBoundingClientRect()];
  if (box.top < room.top || box.bottom > room.bottom) {
    text.scrollTop += box.top - room.top - (room.height - box.height) / 2;
  }
}

/** @param {Explorer} room */
export function textView(room) {
  const stop = signal(0);
  const wholes = computed(() => wholeCharacters(room.run.value?.tokens ?? []));
  const { point, leave, click, down, key } = actionsOf(room, stop);
  /** What is written stays in sight, and the token that the tints are about. @param {HTMLElement} text */
  const follow = (text) => {
    effect(() => {
      if (room.draft.value) requestAnimationFrame(() => text.scrollTo(0, text.scrollHeight));
    });
    effect(() => {
      const { token } = room.subject.value;
      if (room.run.value) requestAnimationFrame(() => reveal(text, token));
    });
  };
  const classes = () => {
    const tokens = room.run.value?.tokens ?? [];
    const narrow = tokens.filter(({ text: words }) => words.length <= NARROW).length;
    return narrow > tokens.length / 2 ? 'explore-text narrow-tokens' : 'explore-text';
  };
  return html`<div id="explore-text" translate="no" class=${drawn(classes)} role="listbox" aria-multiselectable="true"
    aria-label="Tokens: choose one to pin it" ?hidden=${drawn(() => !room.run.value)}
    data-tint=${drawn(() => room.shown.value.tint)} @pointerdown=${down}
    @pointerover=${point} @pointerleave=${leave} @focusin=${point} @focusout=${leave}
    @click=${click} @keydown=${key} ${made(follow)}>${drawn(() => tokensOf(room, stop.value, wholes.value))}</div>`;
}

/** What a loss is as much as. @param {number} loss @param {number} vocabSize */
function guessWords(loss, vocabSize) {
  const among = Math.exp(loss);
  if (Number.isNaN(among)) return '';
  if (among > vocabSize) return `, worse than a guess among all ${formatCount(vocabSize)} tokens`;
  const count = among < 9.95 ? among.toFixed(1) : formatCount(Math.round(among));
  return `, like a guess among ${count}`;
}

/** The whole text's loss, in words. @param {Explorer} room */
function lossWords({ losses, run, state, model }) {
  const { run: about, found } = losses.answer.value ?? {};
  // A tour tells of one prediction: how well the rest of its text is predicted would contradict it.
  if (state.value.tour || !found || about !== run.value || !about) return '';
  const before = about.muted.length > 0 ? `; ${found.before.toFixed(2)} with all heads` : '';
  const { vocabSize = Infinity } = model.peek()?.config ?? {};
  return `Loss: ${found.mean.toFixed(2)} nats${guessWords(found.mean, vocabSize)}${before}.`;
}

/** Whether the text's loss is not known yet. @param {Explorer} room */
export const isLossToCome = ({ losses, run, predicts, skipped }) =>
  predicts.value === 'next' &&
  losses.answer.value?.run !== run.value &&
  !isSkipped({ run, skipped }) &&
  !losses.hasFailed.value;

/** What the text is tinted by. @param {Explorer} room */
const tintWords = (room) => {
  if (room.shown.value.tint === 'loss') {
    const { run, found } = room.losses.answer.value ?? {};
    return found === null && run === room.run.value
      ? 'This text has no losses: it is too long, or it is a single token.'
      : 'The stronger a token’s tint, the lower its predicted probability.';
  }
  const answer = room.line.answer.value;
  if (!answer) return '';
  const { run, subject, title, line } = answer;
  const name = html`${quoted(run.tokens[subject.token].text)} (${subject.token + 1})`;
  const most = Array.from(line, (_, i) => i).sort((a, b) => Math.abs(line[b]) - Math.abs(line[a]));
  const list = most
    .slice(0, TOLD)
    .filter((i) => !(Math.abs(line[i]) < LEAST_TOLD))
    .map((i, k) => {
      const weight = line[i].toFixed(2).replace('-', '−');
      return html`${k > 0 ? ', ' : ''}${quoted(run.tokens[i].text)} ${weight}`;
    });
  const verb = subject.side === 'query' ? 'attends to' : 'is attended to by';
  return html`Tinted: ${name} ${verb} ${list.length > 0 ? list : 'nothing much'}. ${title}.`;
};

const TINTS = [
  ['attention', 'attention'],
  ['loss', 'surprise (loss)'],
];

/** @param {Explorer} room */
export const tintChoice = (room) =>
  drawn(
    () =>
      html`<div class="field inline" ?hidden=${room.predicts.value !== 'next' || !room.run.value}>
        <label for="explore-tint">Tint</label>
        ${select('explore-tint', TINTS, room.shown.value.tint, (tint) => room.set({ tint }))}
      </div>`,
  );

/** How many unknown words or characters are named. */
const NAMED = 5;

/** What the model cannot read. @param {Explorer} room */
function unknownWords({ run }) {
  const { parts, sign } = run.value?.unknown ?? { parts: [] };
  if (parts.length === 0) return '';
  const named = parts.slice(0, NAMED).map((part) => `“${part}”`);
  const more = parts.length > NAMED ? [`${parts.length - NAMED} more`] : [];
  const isOne = parts.length === 1;
  const leftOut = isOne ? 'it is left out' : 'they are left out';
  const stands = `“${sign}” stands for ${isOne ? 'it' : 'each of them'}`;
  return `This model’s vocabulary lacks ${formatList([...named, ...more])}: ${sign === undefined ? leftOut : stands}.`;
}

/** What tints the text. @param {Explorer} room */
export const tintNote = (room) =>
  html`<span id="explore-text-note">${drawn(() => tintWords(room))}</span>
    <span id="explore-unknown">${drawn(() => unknownWords(room))}</span>
    <span id="explore-sign">${drawn(() => signWords(room.run.value?.tokens ?? []))}</span>
    <span id="explore-loss" title="−ln of the probability that the model gave each next token, on average">${drawn(() => lossWords(room))}</span>`;

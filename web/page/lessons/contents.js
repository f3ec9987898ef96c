/**
 * The room's first page: what the lessons build, the list of them with what the visitor has done, and the documents.
 *
 * @import { Entry } from './catalogue.js'
 */

import { focusHeading } from '../shared/dom.js';
import { html, render } from '../shared/template.js';
import { address, lessons, PARTS } from './catalogue.js';
import { addressOf, citations, DOCUMENTS } from './documents.js';
import { forgetAll, hasKept, keptOf, isStored } from './keep.js';
import { arrows } from './pictures/flow.js';

/** A link that shows a number alone: in a list of links it is read with what it leads to. @param {string} href @param {number | string} number @param {string} title */
const numbered = (href, number, title) =>
  html`<a href=${href} title=${title} aria-label="${number} ${title}">${number}</a>`;

/** A box of the picture that leads to the lessons about it. @param {string} words @param {...string} ids */
function box(words, ...ids) {
  const links = ids.map((id) => {
    const { number, lesson } = lessons.find((one) => one.id === id) ?? lessons[0];
    return numbered(address(id), number, lesson.title);
  });
  return html`<div class="box"><b>${words}</b><span class="places">${links}</span></div>`;
}

/** A Transformer from text to the next token. */
const transformer = () => html`
  <figure class="picture way">
    <div class="flow">
      ${box('Text → tokens', 'sentence')} ${arrows(1, 1)} ${box('Embeddings', 'sentence')}
      ${arrows(1, 1)}
      <div class="blocks">
        <p class="blocks-name">Block ${box('× N', 'block', 'stack')}</p>
        ${arrows(1, 1)}
        <div class="around">
          <div>
            ${box('Layer norm', 'feed-forward', 'pre-and-post')} ${arrows(1, 1)}
            ${box('Queries · keys · values', 'by-hand', 'two-forms')} ${arrows(1, 3)}
            <div class="boxes heads">
              ${box('Head 0', 'wrapper')} ${box('Head 1', 'fused')} ${box('…', 'what-differs')}
            </div>
            ${arrows(3, 1)} ${box('Causal mask, softmax', 'causal')} ${arrows(1, 1)}
            ${box('Heads joined, projected', 'fused', 'gpt2-size', 'shapes')}
          </div>
          ${arrows(1, 1)}
          <p class="sum"><b>+</b> the input</p>
        </div>
        ${arrows(1, 1)}
        <div class="around">
          <div>
            ${box('Layer norm', 'pre-and-post')} ${arrows(1, 1)}
            ${box('Feed-forward', 'feed-forward')}
          </div>
          ${arrows(1, 1)}
          <p class="sum"><b>+</b> the input</p>
        </div>
      </div>
      ${arrows(1, 1)} ${box('The next token', 'head-to-block', 'induction-heads')}
    </div>
    <figcaption class="note">What the lessons build. The numbers lead to the lessons.</figcaption>
  </figure>
`;

/** How many steps have been read of those that the lesson has now. @param {Entry} entry */
function readIn({ id, lesson }) {
  const { seen } = keptOf(id);
  return lesson.steps.filter(({ title }) => seen.includes(title)).length;
}

/** @param {Entry} entry */
function item(entry) {
  const { id, lesson } = entry;
  const { solved } = keptOf(id);
  const steps = lesson.steps.length;
  const read = readIn(entry);
  const share = (read + Number(solved)) / (steps + 1);
  const words = `${read} of ${steps} steps${solved ? ', exercise solved' : ''}`;
  const [first] = lesson.text[0].split(/(?<=[.?!]) /);
  return html`<li>
    <a href=${address(id)}>${lesson.title}</a>
    <p>${first}</p>
    <p class="progress">
      <span class="track"><i style="width: ${(100 * share).toFixed(0)}%"></i></span>
      <span>${words}</span>
    </p>
  </li>`;
}

const list = () =>
  PARTS.map(({ title, first }, i) => {
    const from = lessons.findIndex(({ id }) => id === first);
    const next = PARTS[i + 1];
    const to = next ? lessons.findIndex(({ id }) => id === next.first) : lessons.length;
    return html`<section class="lesson-part">
      <h2>${title}</h2>
      <ol start=${from + 1}>
        ${lessons.slice(from, to).map(item)}
      </ol>
    </section>`;
  });

/** Where in a document each step comes from. */
function placesOf(/** @type {string} */ id) {
  /** @type {Map<string, { href: string, words: string, title: string }[]>} */
  const places = new Map();
  for (const { id: lessonId, number, lesson } of lessons) {
    lesson.steps.forEach((step, i) => {
      for (const { document, place } of citations(step.from)) {
        if (document.id !== id) continue;
        const link = {
          href: address(lessonId, `step-${i + 1}`),
          words: `${number}.${i + 1}`,
          title: `${lesson.title}: ${step.title}`,
        };
        places.set(place, [...(places.get(place) ?? []), link]);
      }
    });
  }
  return [...places].sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }));
}

const documents = () => html`
  <section class="documents" aria-labelledby="documents-title">
    <h2 id="documents-title">The documents</h2>
    <p class="note">
      The lessons follow five documents step by step, and some follow a paper. A result that a document prints stands under
      “Document”, beside the one computed here. “Expected” marks results that follow from the
      document, “Recorded” results that the code gave when the lesson was written. The numbers lead to lesson and step.
    </p>
    ${DOCUMENTS.map(
      (document) => html`
        <article id=${addressOf(document)} tabindex="-1">
          <h3>${document.title}</h3>
          <p>
            ${document.about}
            <a href=${document.href} rel="external">${document.link}</a>
          </p>
          <dl>
            ${placesOf(document.id).map(
              ([place, links]) => html`
                <div>
                  <dt>${place}</dt>
                  <dd>
                    ${links.map(({ href, words, title }) => html`${numbered(href, words, title)} `)}
                  </dd>
                </div>
              `,
            )}
          </dl>
        </article>
      `,
    )}
  </section>
`;

/** The lesson to go on with: the first that has begun and is not done, else the first that has not begun. */
function nextEntry() {
  const isBegun = (/** @type {Entry} */ one) => readIn(one) > 0;
  const isDone = (/** @type {Entry} */ one) => readIn(one) === one.lesson.steps.length;
  return lessons.find((one) => isBegun(one) && !isDone(one)) ?? lessons.find((one) => !isDone(one));
}

const STORED = 'Your progress and your changed code are kept in this browser only.';
const UNSTORED =
  'This browser cannot store your progress and your changed code: they are kept until this page is closed.';

const FORGET = 'Delete your progress and all code that you changed? This cannot be undone.';

/** @param {HTMLElement} place */
export function showContents(place) {
  const next = nextEntry();
  const begun = hasKept();
  const forget = () => {
    if (!confirm(FORGET)) return;
    forgetAll();
    showContents(place);
    // The button is gone.
    focusHeading(place, {});
  };
  const go = next && address(next.id);
  render(
    html`
      <div class="contents">
        <div class="lead">
          <h1>Build attention up, one step at a time</h1>
          <p>
            Each step is a few lines of JavaScript that run here, in your browser, with a picture of
            what they compute. Change them and run them again. Each lesson ends with an exercise.
          </p>
          ${
            next
              ? html`<p>
                <a class="start" href=${go}
                  >${begun ? 'Go on with' : 'Begin with'} lesson ${next.number}:
                  ${next.lesson.title}</a
                >
              </p>`
              : ''
          }
        </div>
        <div class="contents-columns">
          <nav class="lesson-list" aria-label="Lessons">${list()}</nav>
          ${transformer()}
        </div>
        ${documents()}
        ${
          begun
            ? html`<p class="note">
              ${isStored() ? STORED : UNSTORED}
              <button type="button" class="quiet" @click=${forget}>Delete them</button>
            </p>`
            : ''
        }
      </div>
    `,
    place,
  );
}

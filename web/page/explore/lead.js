/**
 * What the room is, and how to read a map: in a few sentences, and at length below.
 *
 * @import { Explorer } from './explorer.js'
 */

import { plural } from '../shared/format.js';
import { drawn, html } from '../shared/template.js';
import { costWords, spanWords } from './costs.js';
import { scoreList } from './score-list.js';
import { tours } from './tours-view.js';
import { sentences as whySentences } from './why/question.js';

/** Whether later tokens are masked. @param {Explorer['run']} run */
const isCausal = (run) => run.value?.causal ?? true;

/** @param {Explorer} room */
const sentences = ({ run, hasModel }) =>
  html`<ul class="explore-read" id="explore-read">
    <li>
      <b>A head</b> looks ${drawn(() => (isCausal(run) ? 'back at' : 'at'))} the text in its own way. ${drawn(
        () => {
          const { layers = 0, heads = 0 } = run.value ?? {};
          return layers * heads > 0 && hasModel.value
            ? `This model has ${layers * heads}, in ${plural(layers, 'layer')}: the small maps.`
            : 'Each has a map.';
        },
      )}
    </li>
    <li><b>A row</b> belongs to one token. The columns are the tokens that it can attend to.</li>
    <li>
      <b>A bright cell</b> marks strong attention. A row sums to 1; ${drawn(() =>
        isCausal(run) ? 'later tokens are hatched.' : 'it looks at all tokens.',
      )}
    </li>
  </ul>`;

/** @param {Explorer} room */
export function lead(room) {
  const { offer, card } = tours(room);
  return html`<div class="lead explore-lead">
    <div class="explore-title">
      <h1>Look inside a trained model, head by head</h1>
      ${offer}
    </div>
    ${drawn(() => {
      const { tour } = room.state.value;
      if (tour) return card(tour);
      return room.isAboutWhy.value ? whySentences() : sentences(room);
    })}
  </div>`;
}

/** What a newcomer does not need. @param {Explorer} room */
export const details = (room) =>
  html`<section aria-labelledby="explore-details-title" ?hidden=${drawn(() => !room.run.value)}>
    <h2 id="explore-details-title" class="visually-hidden">Details</h2>
    <div class="explore-details">
      <div id="explore-scores">${scoreList(room)}</div>
      <details class="explain" id="explore-how">
        <summary>How to read this</summary>
        <p>
          Each row is a query, the token that attends; each column is a key, a token that is attended to.
          A cell is the weight that the query gives the key. The weights of a row sum to 1. ${drawn(
            () =>
              isCausal(room.run)
                ? 'Hatched cells are masked: they are later tokens, which the query cannot see.'
                : 'No cell is masked: a row looks at all tokens.',
          )}
          Each head has one such map.
        </p>
        <p>
          The sign ␣ marks a space before a word: models read “␣was” and “was” as different tokens.
        </p>
        <p>
          The loss says how surprised the model is by each next token: −ln of the probability that
          it gave the token. A certain prediction has loss 0; a guess among 100 has 4.6.
        </p>
        <p>
          Attention is not by itself an explanation of what a model does
          (<a href="https://aclanthology.org/N19-1357/">Jain &amp; Wallace 2019</a>,
          <a href="https://aclanthology.org/D19-1002/">Wiegreffe &amp; Pinter 2019</a>). Mute a head
          to see whether it matters.
        </p>
      </details>
      <div>
        <p class="note" id="explore-cost">${drawn(() => costWords(room))}</p>
        <p class="note" id="explore-span">${drawn(() => room.seen.value && spanWords(room.seen.value))}</p>
      </div>
    </div>
  </section>`;

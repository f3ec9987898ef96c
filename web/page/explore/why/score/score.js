/**
 * What is known of why the chosen head looks from the token that is asked about at a key: at the chosen one, else at the one
 * that gets most.
 *
 * @import { Explorer } from '../../explorer.js'
 */

import { isSameHead } from '../../../shared/head-names.js';
import { computed, derived } from '../../../shared/signals.js';
import { Asked } from '../../asked.js';
import { strongestKey } from './parts.js';

export class Score {
  /** @param {Explorer} room */
  constructor(room) {
    const { session, run, shown, headKeys } = room;

    /** From where to where the chosen head looks, as soon as that is known. */
    this.looked = derived(() => {
      const answer = headKeys.answer.value;
      const { layer, head, key } = shown.value;
      const isNow = answer?.run === run.value && answer?.about === room.attribution.value;
      if (!answer || !isNow || !isSameHead(answer, shown.value)) return undefined;
      const query = answer.about.about.at;
      const isThere = key !== null && key <= query;
      return { layer, head, query, key: isThere ? key : strongestKey(answer.weights) };
    });

    const asked = new Asked(room, () => {
      const looked = this.looked.value;
      return looked && (async () => ({ ...(await session.qkScore(looked)), looked }));
    });

    /** What the score is made of that is asked about now. */
    this.answer = computed(() => {
      const answer = asked.answer.value;
      return answer?.looked === this.looked.value && answer?.run === run.value ? answer : undefined;
    });
  }
}

/**
 * What the parts of a logit are called.
 *
 * @import { Part } from './sum.js'
 */

import { shortName } from '../../shared/head-names.js';

/** @param {Part} part */
export function nameOf({ kind, layer = 0, head = 0, count = 0 }) {
  switch (kind) {
    case 'embedding':
      return 'Embedding';
    case 'layer':
      return `L${layer} heads`;
    case 'head':
      return shortName({ layer, head });
    case 'mlp':
      return `L${layer} feed-forward`;
    case 'biases':
      return 'Biases';
    case 'rest':
      return `${count} smaller`;
  }
}

/** What a part is, in words. @param {Part} part */
export function wordsOf({ kind, layer = 0, head = 0, count = 0, parts = [] }) {
  switch (kind) {
    case 'embedding':
      return 'The token’s embedding, with its position if one is added';
    case 'layer':
      return parts.length === 1
        ? `The head of layer ${layer}`
        : `The ${parts.length} heads of layer ${layer} together`;
    case 'head':
      return `Layer ${layer}, head ${head}`;
    case 'mlp':
      return `The feed-forward of layer ${layer}`;
    case 'biases':
      return 'Biases of the output projections and of the last norm';
    case 'rest':
      return `${count} smaller parts together`;
  }
}

/**
 * Whether a measure of heads means something.
 *
 * @param {string} name
 * @param {object} model
 * @param {boolean} model.causal whether later tokens are masked
 * @param {'next' | 'masked' | 'nothing'} model.predicts
 * @param {boolean} [model.isPaired] whether there is another text to exchange parts with
 */
export function hasMeasure(name, { causal, predicts, isPaired = false }) {
  switch (name) {
    case 'attribution':
    case 'mean-effect':
    case 'resample-effect':
      return predicts === 'next';
    case 'effect':
      return predicts !== 'nothing';
    case 'patching':
      return isPaired;
    case 'induction':
      return causal;
    case 'next':
      return !causal;
    default:
      return true;
  }
}

// Rotary position embeddings as configs describe them: how fast each pair of a head's dimensions turns. The scalings are
// those of https://huggingface.co/docs/transformers/main/internal/rope_utils.

/** @typedef {import('./config-fields.js').Fields} Fields */

/**
 * How queries and keys are rotated (Su et al. 2021): of a head's first dimensions, i turns together with i + frequencies.length,
 * by position · frequencies[i].
 * @typedef {object} Rotary
 * @property {Float64Array} frequencies radians a token, one for each pair of dimensions
 * @property {number} factor what cosines and sines are multiplied by
 */

/**
 * Of heads' rotated part; original: the length of context before it was stretched, 0 if the config has none outside.
 * @typedef {{ dim: number, theta: number, contextLength: number, original: number }} Shape
 */
/** @typedef {(fields: Fields, frequencies: Float64Array, shape: Shape) => Rotary} Scale */

/** What divides frequencies is above this: the engine has angles below 2^32, those of 4 million tokens. */
export const leastDivisor = 1e-3;

/** Linear interpolation of positions. @type {Scale} */
function linear(fields, frequencies) {
  const factor = fields.number('factor', undefined, leastDivisor);
  return { frequencies: frequencies.map((frequency) => frequency / factor), factor: 1 };
}

/** The length of context before scaling. @param {Fields} fields @param {Shape} shape */
const originalOf = (fields, { original, contextLength }) =>
  original || fields.size('original_max_position_embeddings', contextLength);

/** Llama 3.1: long wavelengths are stretched, short ones are not, those between in part. @type {Scale} */
function llama3(fields, frequencies, shape) {
  const factor = fields.number('factor', undefined, leastDivisor);
  const low = fields.number('low_freq_factor', undefined);
  const high = fields.number('high_freq_factor', undefined, low);
  const context = originalOf(fields, shape);
  const scale = (/** @type {number} */ frequency) => {
    const turns = (context * frequency) / (2 * Math.PI);
    const kept = Math.min(1, Math.max(0, (turns - low) / (high - low)));
    return frequency * kept + (frequency / factor) * (1 - kept);
  };
  return { frequencies: frequencies.map(scale), factor: 1 };
}

/** @param {number} factor @param {number} scale */
const yarnFactor = (factor, scale) => (factor > 1 ? 0.1 * scale * Math.log(factor) + 1 : 1);

/** @param {Fields} fields @param {number} factor */
function yarnAttention(fields, factor) {
  const some = fields.get('mscale');
  const all = fields.get('mscale_all_dim');
  const usual =
    some && all
      ? yarnFactor(factor, fields.number('mscale', undefined)) /
        yarnFactor(factor, fields.number('mscale_all_dim', undefined))
      : yarnFactor(factor, 1);
  return fields.number('attention_factor', usual);
}

/** YaRN (Peng et al. 2023): dimensions of few turns are stretched, of many not, with a ramp between. @type {Scale} */
function yarn(fields, frequencies, shape) {
  const { dim, theta, contextLength } = shape;
  const context = originalOf(fields, shape);
  const factor = fields.number('factor', contextLength / context, leastDivisor);
  fields.number('rope_theta', theta, 1);
  const dimensionOf = (/** @type {number} */ turns) =>
    (dim * Math.log(context / (turns * 2 * Math.PI))) / (2 * Math.log(theta));
  const isWhole = fields.boolean('truncate', true);
  const first = dimensionOf(fields.number('beta_fast', 32));
  const last = dimensionOf(fields.number('beta_slow', 1));
  const start = Math.max(isWhole ? Math.floor(first) : first, 0);
  const end = Math.min(isWhole ? Math.ceil(last) : last, dim - 1);
  const width = start === end ? 0.001 : end - start;
  const scale = (/** @type {number} */ frequency, /** @type {number} */ i) => {
    const ramp = Math.min(1, Math.max(0, (i - start) / width));
    return (frequency / factor) * ramp + frequency * (1 - ramp);
  };
  return { frequencies: frequencies.map(scale), factor: yarnAttention(fields, factor) };
}

/** @type {Readonly<Record<string, Scale>>} */
const scalings = {
  default: (_, frequencies) => ({ frequencies, factor: 1 }),
  ...{ linear, llama3, yarn },
};

/**
 * @param {Fields} fields rope_parameters or rope_scaling of a layer's kind; may be empty
 * @param {object} otherwise what they leave out
 * @param {number} otherwise.headDim
 * @param {number} otherwise.theta
 * @param {number} otherwise.part
 * @param {number} otherwise.contextLength
 * @param {number} otherwise.original as of Shape
 * @param {(expected: string) => Error} otherwise.refuse an error of the part
 * @returns {Rotary}
 * @throws {import('../checks/error.js').HeadwiseError} ERR_FORMAT
 */
export function readRotary(
  fields,
  { headDim, theta: usual, part: usualPart, contextLength, original, refuse },
) {
  const theta = fields.number('rope_theta', usual, leastDivisor);
  const part = fields.number('partial_rotary_factor', usualPart);
  const dim = Math.trunc(headDim * part);
  if (dim % 2 !== 0 || dim === 0 || dim > headDim) {
    const expected = `a value with which an even number of a head's ${headDim} dimensions rotate, at least 2, not ${dim}`;
    const isOwn = fields.get('partial_rotary_factor') !== undefined;
    throw isOwn ? fields.error('partial_rotary_factor', expected) : refuse(expected);
  }
  const plain = Float64Array.from({ length: dim / 2 }, (_, i) => theta ** ((-2 * i) / dim));
  const scale = fields.choice(fields.spelling('rope_type type'), scalings, 'default');
  const rotary = scale(fields, plain, { dim, theta, contextLength, original });
  // Of a scaling that another type has, files may keep the numbers.
  const others =
    /^(factor|(low|high)_freq_factor|original_max|attention_factor|beta_|mscale|truncate|finetuned)/;
  fields.refuseOthers((name) => !others.test(name));
  return rotary;
}

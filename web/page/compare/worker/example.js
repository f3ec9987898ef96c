/** The notebooks' example: six words, each a vector of three numbers. */

export const WORDS = ['Your', 'journey', 'starts', 'with', 'one', 'step'];

export const EMBEDDINGS = [
  [0.43, 0.15, 0.89],
  [0.55, 0.87, 0.66],
  [0.57, 0.85, 0.64],
  [0.22, 0.58, 0.33],
  [0.77, 0.25, 0.1],
  [0.05, 0.8, 0.55],
];

/** The notebooks' `d_out`: of one head in the wrapper, of all in the fused. */
export const D_OUT = 2;

/**
 * Functions that read and write .safetensors and .npy files and read GPT-2's config.json. They run in any browser and in Node
 * and need no engine.
 * @module headwise/formats
 */

/** @typedef {import('./formats/node-stream.js').NodeStream} NodeStream */
/** @typedef {import('./formats/node-stream.js').NodeStreamMembers} NodeStreamMembers */
/** @typedef {import('./formats/source.js').Source} Source */
/** @typedef {import('./formats/source.js').SourceOptions} SourceOptions */
/** @typedef {import('./formats/convert.js').Dtype} Dtype */
/** @typedef {import('./formats/safetensors.js').SafetensorsContents} SafetensorsContents */
/** @typedef {import('./formats/safetensors.js').SafetensorsFile} SafetensorsFile */
/** @typedef {import('./formats/safetensors.js').TensorInfo} TensorInfo */
/** @typedef {import('./formats/safetensors.js').BytePiece} BytePiece */
/** @typedef {import('./formats/safetensors.js').Piece} Piece */
/** @typedef {import('./formats/safetensors.js').PiecesOptions} PiecesOptions */
/** @typedef {import('./models/gpt2-config.js').Gpt2Config} Gpt2Config */

export { HeadwiseError } from './checks/error.js';
export { readGpt2Config } from './models/gpt2-config.js';
export { readNpy } from './formats/npy.js';
export { openSafetensors, readSafetensors } from './formats/safetensors.js';
export { writeNpy } from './formats/write-npy.js';
export { writeSafetensors } from './formats/write-safetensors.js';
export { tensor } from './tensor/make-tensor.js';
export { Tensor } from './tensor/tensor.js';

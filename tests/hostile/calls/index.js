// Every public call that takes something of the caller's, with arguments that fit: what the hostile cases are made of.
import { files } from './files.js';
import { functions } from './functions.js';
import { models } from './models.js';
import { caches, modules, traces } from './modules.js';
import { torchModules } from './torch-modules.js';
import { training } from './training.js';
import { understanding } from './understanding.js';

/** @typedef {import('../../helpers.js').Engine} Engine */

/** @type {Record<string, (hw: Engine) => import('./inputs.js').Call>} */
export const calls = {
  ...files,
  ...functions,
  ...modules,
  ...torchModules,
  ...training,
  ...caches,
  ...traces,
  ...understanding,
  ...models,
};

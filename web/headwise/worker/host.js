// The Worker of headwise/worker: an engine, the models that can live in it, and what takes such a model.
import { setBase } from '../engine/resolve.js';
import { load } from '../engine/load.js';
import { loadGpt2 } from '../models/load-gpt2.js';
import { loadModelHere } from '../models/load-model.js';
import * as understanding from '../understanding.js';
import { serve } from './serve.js';

/**
 * A loader whose calls say last what addresses are relative to: a page's own address may change.
 * @param {Function} loader
 */
const withBase =
  (loader) =>
  (/** @type {any[]} */ ...args) => {
    setBase(args.pop());
    return loader(...args);
  };

serve({
  ...understanding,
  /** Tells that this script runs. */
  hello: () => true,
  load: withBase(load),
  loadGpt2: withBase(loadGpt2),
  loadModel: withBase(loadModelHere),
});

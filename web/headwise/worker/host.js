// The Worker of headwise/worker: an engine, the models that can live in it, and what takes such a model.
import { setBase } from '../engine/compile.js';
import { load } from '../engine/load.js';
import { loadGpt2 } from '../models/load-gpt2.js';
import { loadModelHere } from '../models/load-model.js';
import * as understanding from '../understanding.js';
import { serve } from './serve.js';

serve({
  ...understanding,
  /** @param {import('../engine/load-options.js').LoadOptions} options @param {string | undefined} base the page's */
  load(options, base) {
    setBase(base);
    return load(options);
  },
  loadGpt2,
  loadModel: loadModelHere,
});

// The Explore room's Worker: a model, its latest run, and all questions about the run's heads.
import { serve } from '../../../headwise/worker/serve.js';
import { column, region, rows, scores, thumbs } from './maps.js';
import { open, run } from './opened.js';
import * as questions from './questions.js';

const room = { open, run, thumbs, region, rows, column, scores, ...questions };
/** @typedef {typeof room} ExploreWorker */
serve(room);

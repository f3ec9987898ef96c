// The site's own Worker, with an engine in it.
import { entries } from './compute.js';

entries.main().then((result) => postMessage(result));

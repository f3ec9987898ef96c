// A quarter of the hostile calls: all of them, hostileTests(1), take minutes.
import { hostileTests } from './run.js';

await hostileTests(4);

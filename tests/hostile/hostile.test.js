// Some of the hostile calls; hostile.slow.test.js runs more.
import { hostileTests } from './run.js';

await hostileTests(19);

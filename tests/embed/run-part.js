// One of parts.js, in this process: node tests/embed/run-part.js NAME
import { runPart } from './parts.js';

// A build that was given up may go on.
process.exit((await runPart(process.argv[2])) ? 0 : 1);

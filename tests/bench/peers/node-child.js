// One contest or start, for in-node.js.
import { contest, startUp } from './contest.js';
import { readCeiling } from './in-node.js';

process.on('message', async (/** @type {{ what: string, args: any[] }} */ { what, args }) => {
  /** @type {{ result?: unknown, error?: string }} */
  let answer;
  try {
    const [first, second] = args;
    answer = {
      result: await (what === 'contest' ? contest(first, readCeiling) : startUp(first, second)),
    };
  } catch (error) {
    answer = { error: String(error) };
  }
  // Contestants leave workers behind, and an exit could wait for ever (nodejs/node#54918).
  process.send?.(answer, () => process.kill(process.pid, 'SIGKILL'));
});

/**
 * The tasks, by their names in the address.
 *
 * @import { Task } from './task.js'
 */

import { addition } from './addition.js';
import { induction, reversal, sorting } from './letters.js';

/** Those that need no text. @type {Readonly<Record<string, Task>>} */
export const drawnTasks = { induction, reversal, sorting, addition };

/** The beginning of Pride and Prejudice (Jane Austen, 1813; in the public domain). */
export const AUSTEN = new URL('./austen.txt', import.meta.url);

/** What the model of a text writes on from. */
export const PROMPT = 'She was ';

export { textTask } from './text.js';

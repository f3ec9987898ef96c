/**
 * Runs a lesson once, in a Worker of its own that the page can end at any time.
 *
 * @import { Item } from './audience.js'
 * @import { Import, StepCode } from './imports.js'
 * @import { Outcome } from './run.js'
 */

import * as headwise from '../../headwise/index.js';
import { listen, tell } from './audience.js';
import { fence } from './fence.js';
import { inspect } from './inspect.js';
import { watchTimers } from './timers.js';
import { notAwaited } from './not-awaited.js';
import * as tools from './tools.js';

/** What the lessons import, by the names that they import it by. */
const MODULES = { headwise, '../tools.js': tools };

/** Beyond this many things shown, something shows without end. */
const MOST_ITEMS = 200;

/** Of more the console says nothing. */
const MOST_LOGS = 100;

/** How many calls an error remembers in V8. Ten are the default, and all ten may be within the engine. */
const MOST_FRAMES = 50;

/** How long a promise or a timer that nobody waits for may take to fail. */
const GRACE_MS = 10;

/** Where code that comes from a text finds the above. */
const DOOR = 'headwiseLesson';

/** What no module exports. */
const MISSING = 'headwiseNothing';

/** @param {string} text */
const urlOf = (text) => URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));

let step = -1;
let items = 0;

/**
 * The steps as parts of one module: one scope for all, as in the file. A line before each tells where the run is.
 *
 * @param {StepCode[]} steps
 */
function partsOf(steps) {
  const parts = steps.map(({ code, imports }, i) => {
    step = i;
    let source = code;
    const shims = imports.map((one) => ({ ...one, url: shimOf(one) }));
    // From the last to the first, so that places stay.
    for (const { from, to, url } of shims.reverse()) {
      source = `${source.slice(0, from)}'${url}'${source.slice(to)}`;
    }
    return `${DOOR}.enter(${i});\n${source}\n`;
  });
  step = -1;
  return parts;
}

/** What is imported is not there. */
class ImportError extends Error {
  /** @param {string} message @param {number} at its line in the step, from 1 */
  constructor(message, at) {
    super(message);
    this.at = at;
  }
}

/**
 * A module that a text can import, with the exports of one of ours.
 *
 * @param {Import} wanted
 */
function shimOf({ name, line, wanted }) {
  if (!Object.hasOwn(MODULES, name)) {
    const names = Object.keys(MODULES).map((known) => `'${known}'`);
    throw new ImportError(
      `'${name}' cannot be imported here; there are ${names.join(' and ')}`,
      line,
    );
  }
  const keys = Object.keys(MODULES[/** @type {keyof typeof MODULES} */ (name)]);
  const unknown = wanted.find((one) => !keys.includes(one.name));
  if (unknown) throw new ImportError(`'${name}' has no export '${unknown.name}'`, unknown.line);
  const path = `${DOOR}.modules['${name}']`;
  return urlOf(keys.map((key) => `export const ${key} = ${path}.${key};`).join('\n'));
}

/**
 * The step up to which the code is no JavaScript; where all of it is, the last. Modules are tried, for a function may
 * have a return and no export.
 *
 * @param {string[]} parts of the module, one a step
 */
async function stepThatDoesNotParse(parts) {
  // That this is missing is an error once all is read, and before anything runs.
  let source = `import { ${MISSING} } from '${urlOf('')}'; `;
  for (const [at, part] of parts.entries()) {
    source += part;
    const error = await import(/* @vite-ignore */ urlOf(source)).catch((reason) => reason);
    if (!String(error).includes(MISSING)) return at;
  }
  return parts.length - 1;
}

/** A name that is declared twice, in the words of Chromium, Firefox and WebKit. */
const declaredTwice = [
  /['"]?([\w$]+)['"]? (?:has|was) already/,
  /redeclaration of \w+ ([\w$]+)/,
  /variable twice: '([\w$]+)'/,
];

/**
 * The step and the line of what is no JavaScript.
 *
 * @param {unknown} error as the browser words it
 * @param {StepCode[]} steps
 * @param {string[]} parts
 */
async function syntaxPlace(error, steps, parts) {
  const at = await stepThatDoesNotParse(parts);
  const { broken, declared } = steps[at];
  // A name that is declared twice stands where grammar sees nothing wrong.
  const found = declaredTwice.map((words) => words.exec(String(error))).find((match) => match);
  const name = found?.[1] ?? '';
  const line = broken || (Object.hasOwn(declared, name) ? declared[name] : undefined);
  return { step: at, line };
}

/** The console's calls are shown beside the step. */
function listenToConsole() {
  let count = 0;
  const levels = ['log', 'info', 'debug', 'dir', 'table', 'warn', 'error'];
  for (const level of /** @type {('log' | 'warn' | 'error')[]} */ (levels)) {
    const original = console[level];
    console[level] = (...values) => {
      original(...values);
      if (++count > MOST_LOGS) return;
      const shown = level === 'warn' || level === 'error' ? level : 'log';
      const text = count < MOST_LOGS ? inspect(values) : 'More is shown in the browser’s console.';
      tell({ kind: 'log', name: '', level: shown, text });
    };
  }
}

/**
 * The step and its line, from 1, that an error came from, as its stack tells: a line of the step that runs, if there is
 * one, for that is where a function of an earlier step was called.
 *
 * @param {unknown} error
 * @param {StepCode[]} steps
 * @param {string} url of the module
 */
function placeOf(error, steps, url) {
  const stack = error instanceof Error ? String(error.stack) : '';
  const lines = stack.split(`${url}:`).slice(1);
  const places = lines.map((text) => {
    let line = Number.parseInt(text, 10) - 1;
    const at = steps.findIndex(({ code }) => {
      const length = code.split('\n').length + 1;
      if (line < length) return true;
      line -= length;
      return false;
    });
    return { step: at, line };
  });
  return places.find((place) => place.step === step) ?? places[0] ?? { step, line: undefined };
}

/** @param {unknown} error */
function wordsOf(error) {
  if (!(error instanceof Error)) return `The code threw ${inspect([error])}.`;
  const isOurs = error.name === 'HeadwiseError' || error instanceof ImportError;
  return isOurs ? error.message : `${error.name}: ${error.message}`;
}

const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor;

/** Whether what the lessons import by a name is an async function. @param {string} name */
const givesPromise = (name) =>
  Object.values(MODULES).some(
    (module) => /** @type {Record<string, unknown>} */ (module)[name] instanceof AsyncFunction,
  );

/**
 * The first error that nothing catches, in a promise or a timer.
 *
 * @param {(error: unknown) => Promise<Outcome>} failure
 * @returns {Promise<Outcome>}
 */
const unheard = (failure) =>
  new Promise((resolve) => {
    addEventListener('unhandledrejection', (event) => {
      event.preventDefault();
      resolve(failure(event.reason));
    });
    addEventListener('error', (event) => {
      event.preventDefault();
      resolve(failure(event.error));
    });
  });

/**
 * @param {StepCode[]} steps the code of each with its imports
 * @param {(step: number) => void} onStep a step begins
 * @param {(item: Item) => void} onItem it shows something
 * @returns {Promise<Outcome>}
 */
async function run(steps, onStep, onItem) {
  let url = '';
  /** @type {string[]} */
  let parts = [];
  /** @param {unknown} error @returns {Promise<Outcome>} */
  const failure = async (error) => {
    const hasBegun = step >= 0 && !(error instanceof ImportError);
    const place = await placeIn(error);
    const hint = hasBegun ? notAwaited(steps, place, givesPromise) : '';
    return { how: 'error', ...place, message: `${wordsOf(error)}${hint}` };
  };
  const placeIn = (/** @type {unknown} */ error) => {
    if (error instanceof ImportError) return { step, line: error.at };
    // What does not parse has entered no step.
    return step < 0 ? syntaxPlace(error, steps, parts) : placeOf(error, steps, url || 'none');
  };
  const enter = (/** @type {number} */ next) => {
    step = next;
    onStep(step);
  };
  listenToConsole();
  Error.stackTraceLimit = MOST_FRAMES;
  const setTimer = setTimeout;
  const timersLeft = watchTimers();
  Object.assign(globalThis, { [DOOR]: { modules: MODULES, enter } });
  listen((item) => {
    if (item.kind !== 'log' && ++items > MOST_ITEMS)
      throw new RangeError(`more than ${MOST_ITEMS} things were shown`);
    onItem(item);
  });
  const done = async () => {
    parts = partsOf(steps);
    url = urlOf(parts.join(''));
    await import(/* @vite-ignore */ url);
    // What was not waited for may still fail.
    await new Promise((resolve) => setTimer(resolve, GRACE_MS));
    const places = timersLeft().map((error) => placeOf(error, steps, url));
    const late = places.find(({ line }) => line !== undefined);
    return /** @type {Outcome} */ ({ how: 'done', step, late });
  };
  return Promise.race([done().catch(failure), unheard(failure)]);
}

/** Taken before the code is fenced in, which has none. @type {(message: object) => void} */
const post = postMessage.bind(globalThis);

addEventListener(
  'message',
  async ({ data: { steps, base } }) => {
    fence(base);
    const outcome = await run(
      steps,
      (next) => post({ step: next }),
      (item) => post({ item }),
    ).catch(() => ({
      how: 'error',
      step,
      message: 'The code threw a value that cannot be displayed.',
    }));
    post({ outcome });
  },
  { once: true },
);

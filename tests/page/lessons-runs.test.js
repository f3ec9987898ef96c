// What the Lessons room says of runs that fail, in steps and in exercises.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve } from '../browser.js';
import { browser, options, site, textOf } from './harness.js';
import {
  codeIn,
  codeOf,
  ended,
  lessonTest,
  resultOf,
  resultSays,
  runIn,
  runInstead,
} from './lessons-room.js';

/** @import { Page } from 'puppeteer-core' */

lessonTest(
  'of code that is no JavaScript every other step says that nothing ran, and after a reload too',
  'wrapper',
  async (page) => {
    await runInstead(page, 3, 'const y = ;');
    await ended(page, 'error');
    const isSaid = async () => {
      const states = await page.$$eval('.lesson > .step:not(.exercise)', (steps) =>
        steps.map((step) => /** @type {HTMLElement} */ (step).dataset.state),
      );
      assert.deepEqual(states, ['unreached', 'unreached', 'failed', 'unreached', 'unreached']);
      for (const step of [1, 2, 4, 5]) {
        assert.equal(await resultOf(page, step), 'Nothing ran: step 3 has an error.');
      }
      assert.match(await resultOf(page, 3), /^Line 1: SyntaxError/);
      assert.equal(
        await textOf(page, '.lesson header [role=status]'),
        'Nothing ran: step 3 of 5 has an error.',
      );
    };
    await isSaid();
    await page.reload();
    await ended(page, 'error');
    await isSaid();
    await page.click('.step:nth-of-type(3) .row button:nth-of-type(2)');
    await ended(page);
    assert.match(await resultOf(page, 2), /all 48 equal/);
  },
);

lessonTest('a name that a module does not export has its line', 'wrapper', async (page) => {
  await runInstead(page, 2, "import {\n  lood,\n} from 'headwise';");
  await ended(page, 'error');
  assert.equal(await resultOf(page, 2), "Line 2: 'headwise' has no export 'lood'");
  await runInstead(page, 2, "\nimport tools from '../tools.js';");
  await resultSays(page, 2, "Line 2: '../tools.js' has no export 'default'");
});

lessonTest(
  'a return beside functions is an error of its own line, in a step and in an exercise',
  'wrapper',
  async (page) => {
    await runInstead(page, 2, 'const fine = 1;\nreturn fine;');
    await ended(page, 'error');
    assert.match(await resultOf(page, 2), /^Line 2: SyntaxError: .*[Rr]eturn/);
    assert.equal(await resultOf(page, 5), 'Nothing ran: step 2 has an error.');
    await checkSays(page, 'const mha = 1;\n\nreturn mha;', 'Line 3: SyntaxError: ');
    assert.match(await textOf(page, '#exercise .failed-line'), /return mha/);
  },
);

lessonTest(
  'what a step exports is no error, and hides none of a later step',
  'wrapper',
  async (page) => {
    await runInstead(page, 1, 'export const mine = 1;\nexport default import.meta.url;');
    await runInstead(page, 4, 'const other = 2;\nconst third = [1, 2;');
    await resultSays(page, 4, 'Line 2: SyntaxError');
    assert.equal(await resultOf(page, 1), 'Nothing ran: step 4 has an error.');
  },
);

lessonTest(
  'what is thrown and no error is written as the console writes it',
  'wrapper',
  async (page) => {
    await runInstead(page, 5, "throw { shape: [2, 3], why: 'odd' };");
    await ended(page, 'error');
    assert.equal(await resultOf(page, 5), "The code threw { shape: [2, 3], why: 'odd' }.");
    await runInstead(page, 5, 'throw { get why() { throw 1; } };');
    await resultSays(page, 5, 'The code threw a value that cannot be displayed.');
    await runInstead(page, 5, "await Promise.reject('none');");
    await resultSays(page, 5, 'The code threw none.');
  },
);

lessonTest(
  'an error in a timer is told at the step and the line that it comes from',
  'wrapper',
  async (page) => {
    const code = await codeOf(page, 2);
    await runInstead(page, 2, `setTimeout(() => {\n  nowhere;\n}, 5);\n${code}`);
    await ended(page, 'error');
    assert.match(await resultOf(page, 2), /Line 2: ReferenceError: /);
    await checkSays(
      page,
      'const mha = 1;\nsetTimeout(() => nowhere);\nawait new Promise(() => {});',
      'Line 2: ReferenceError: ',
    );
  },
);

lessonTest(
  'of a timer that the run has not waited for its line is told, and how to wait',
  'wrapper',
  async (page) => {
    const code = await codeOf(page, 2);
    const after = (/** @type {string} */ timers) => runInstead(page, 2, `${timers}\n${code}`);
    const isLate = () =>
      page.$$eval('.lesson .results > .note:not([role])', (notes) =>
        notes.map((note) => note.textContent),
      );
    await after("1;\nsetTimeout(() => console.log('late'), 60_000);");
    await resultSays(
      page,
      2,
      'Line 2: The run ended before this timer did. To wait for it, write ',
    );
    await ended(page);
    assert.equal((await isLate()).length, 1);
    assert.match(
      await resultOf(page, 2),
      /await new Promise\(\(resolve\) => setTimeout\(resolve, 500\)\);$/,
    );
    // One that is over, and one that is ended.
    await after(
      "await new Promise((resolve) => setTimeout(resolve, 20));\nclearInterval(setInterval(() => {}, 5));\nconsole.log('on time');",
    );
    await resultSays(page, 2, 'on time');
    await ended(page);
    assert.deepEqual(await isLate(), []);
    const start = await codeIn(page, '#exercise');
    await checkSays(
      page,
      `setInterval(() => {}, 60_000);\n${start}`,
      'Line 1: The run ended before',
    );
    assert.match(await textOf(page, '#exercise .results'), /^2 of 3 right so far/);
  },
);

lessonTest('of an await that is missing before load its line is told', 'wrapper', async (page) => {
  const code = await codeIn(page, '#exercise');
  const words = '“hw” is a Promise, for line 4 has no await before “load”';
  await checkSays(page, code.replace('await load()', 'load()'), words);
  assert.match(await textOf(page, '#exercise .results'), /^Line 1[0-9]: TypeError: /);
});

lessonTest('a number with a comma for thousands has its line', 'wrapper', async (page) => {
  await runInstead(page, 5, 'const config = {\n  contextLength: 1,024,\n};');
  await ended(page, 'error');
  assert.match(await resultOf(page, 5), /^Line 2: SyntaxError: /);
});

lessonTest('an error from deep within the engine has its line', 'wrapper', async (page) => {
  const nested = `${'['.repeat(15)}'x'${']'.repeat(15)}`;
  await runInstead(page, 5, `\ntensor(${nested});`);
  await ended(page, 'error');
  assert.match(await resultOf(page, 5), /^Line 2: .* is "x"; expected a number/);
});

lessonTest(
  'messages name classes as the package does, in the built page too',
  'wrapper',
  async (page) => {
    const linear = 'const linear = new hw.Linear({ inFeatures: 1, outFeatures: 1 });';
    await runInstead(page, 5, `${linear}\nlinear.dispose();\nlinear.forward(tensor([[1]]));`);
    await ended(page, 'error');
    assert.match(await resultOf(page, 5), /^Line 3: the Linear was disposed of/);
    await runInstead(page, 5, 'const odd = tensor([1]);\nodd.data = [2];\nhw.softmax(odd);');
    await resultSays(page, 5, 'Line 3: x is a Tensor of shape [1]');
  },
);

lessonTest('the console’s other calls show beside the step too', 'wrapper', async (page) => {
  await runInstead(
    page,
    1,
    "console.table([{ a: 1 }]);\nconsole.dir({ b: 2 });\nconsole.debug('c %d', 3);\nconst hw = 1;",
  );
  await page.waitForSelector('.console pre:nth-child(3)');
  assert.equal(await textOf(page, '.step:nth-of-type(1) .console'), '[{ a: 1 }]{ b: 2 }c 3');
});

/** Runs code as the exercise's, and waits for what is said. @param {Page} page @param {string} code @param {string} words */
async function checkSays(page, code, words) {
  await runIn(page, '#exercise', code);
  await page.waitForFunction(
    (/** @type {string} */ wanted) =>
      document.querySelector('#exercise .results')?.textContent?.includes(wanted),
    { timeout: 10_000 },
    words,
  );
}

lessonTest(
  'what keeps a check from its end is not told as an error of the code',
  'wrapper',
  async (page) => {
    const needed = 'The check needs the variable “mha”, which your code does not have.';
    await checkSays(page, 'const other = 1;', needed);
    await checkSays(
      page,
      'const mha = { stateDict: null };',
      'The check could not finish: TypeError',
    );
    assert.deepEqual(await page.$$('#exercise .failed-line'), []);
    await checkSays(page, 'const a = 1;\nnowhere;', 'Line 2: ReferenceError');
  },
);

lessonTest(
  'an exercise says that it runs, in the place where it says how it ended',
  'wrapper',
  async (page) => {
    const status = '#exercise .results > [role=status]';
    await page.click('#exercise .row button');
    await page.waitForSelector('#exercise .checks');
    assert.equal(await textOf(page, status), '2 of 3 right so far.');
    await page.$eval(status, (element) => element.setAttribute('data-mark', ''));
    assert.equal(await page.$eval('#exercise .row kbd:last-child', ({ hidden }) => hidden), true);
    await runIn(page, '#exercise', 'for (;;);');
    await page.waitForSelector('#exercise .stop:not([hidden])');
    assert.equal(await textOf(page, status), 'Running …');
    assert.equal(await textOf(page, '#exercise .row kbd:not([hidden]):last-child'), 'Esc');
    const opacity = () =>
      page.$eval('#exercise .checks', (checks) => {
        const given = checks.parentElement;
        return given && getComputedStyle(given).opacity;
      });
    assert.equal(await opacity(), '0.55', 'the old result is no result of this run');
    await page.keyboard.press('Escape');
    await page.waitForSelector('#exercise .stop[hidden]');
    assert.match(await textOf(page, `${status}[data-mark].error`), /^Stopped/, 'the same element');
    await runIn(page, '#exercise', 'const = 1;');
    await page.waitForFunction(
      (/** @type {string} */ where) =>
        document.querySelector(where)?.textContent?.startsWith('Line 1: SyntaxError'),
      {},
      status,
    );
  },
);

lessonTest(
  'an exercise’s check is stopped when the room is left, and runs again when one comes back',
  'wrapper',
  async (page) => {
    const start = await codeIn(page, '#exercise');
    await runIn(page, '#exercise', `${start}\nawait new Promise((go) => setTimeout(go, 1500));`);
    const stop = '#exercise .stop';
    await page.waitForSelector(`${stop}:not([hidden])`);
    assert.equal(await textOf(page, stop), 'Stop');
    await page.click('#rooms a[href^="#bench"]');
    await page.waitForSelector('#exercise[data-state="stopped"]');
    assert.match(await textOf(page, '#exercise .results'), /Stopped before it finished/);
    await page.click('#rooms a[href^="#lessons"]');
    await page.waitForSelector('#exercise[data-state="done"]');
    assert.match(await textOf(page, '#exercise .results'), /2 of 3 right so far/);
    // What has come to its end does not run again.
    await page.click('#rooms a[href^="#bench"]');
    await page.click('#rooms a[href^="#lessons"]');
    await page.waitForSelector('#lessons-room:not([hidden])');
    assert.equal(await page.$eval('#exercise', (one) => one.getAttribute('data-state')), 'done');
  },
);

/** Names by which a Worker stores, sends, or starts others. */
const FENCED = [
  ...[
    'caches',
    'indexedDB',
    'IDBFactory',
    'Cache',
    'CacheStorage',
    'cookieStore',
    'storageBuckets',
  ],
  ...['XMLHttpRequest', 'WebSocket', 'WebSocketStream', 'EventSource', 'WebTransport', 'FontFace'],
  ...['Worker', 'SharedWorker', 'BroadcastChannel', 'importScripts', 'postMessage', 'fonts'],
  ...['webkitRequestFileSystem', 'webkitRequestFileSystemSync', 'webkitResolveLocalFileSystemURL'],
];

/** What code could try, by what it says then: how it failed, or that it did not. */
const ATTEMPTS = `
const failed = [];
const attempt = async (name, act) => {
  try {
    await act();
    show(name, 'REACHED');
  } catch (error) {
    failed.push(name);
  }
};
await attempt('caches', () => caches.open('a'));
await attempt('indexedDB', () => new Promise((resolve, reject) => {
  const opening = indexedDB.open('a');
  opening.onsuccess = resolve;
  opening.onerror = reject;
}));
await attempt('files', () => navigator.storage.getDirectory());
await attempt('a Worker', () => new Worker(URL.createObjectURL(new Blob(['postMessage(1)']))));
await attempt('a beacon', () => navigator.sendBeacon('ELSEWHERE', 'secret'));
await attempt('another origin', () => fetch('ELSEWHERE', { method: 'POST', mode: 'no-cors', body: 'secret' }));
await attempt('its files', () => fetch('ELSEWHEREa.wasm', { mode: 'no-cors' }));
await attempt('a page of this host', () => fetch('PAGEindex.html'));
await attempt('with a query', () => fetch('PAGEindex.html?a.wasm'));
await attempt('with a fragment', () => fetch('PAGEindex.html#a.wasm'));
await attempt('a post', () => fetch('PAGEa.wasm', { method: 'POST' }));
String.prototype.startsWith = String.prototype.endsWith = () => true;
String.prototype.includes = () => false;
Function.prototype.call = function (self, ...args) { return Reflect.apply(this, self, args); };
Object.defineProperty(Request.prototype, 'url', { get: () => 'PAGEa.wasm' });
await attempt('with the checks replaced', () => fetch('ELSEWHERE', { mode: 'no-cors' }));
show('failed', failed.length);
const found = [];
for (let at = globalThis; at !== null; at = Object.getPrototypeOf(at)) {
  const all = Reflect.ownKeys(at);
  found.push(...FENCED.filter((name) => all.indexOf(name) >= 0 && at[name] !== undefined));
}
const inside = ['storage', 'locks', 'serviceWorker', 'sendBeacon', 'storageBuckets', 'gpu', 'usb'];
for (let at = navigator; at !== null; at = Object.getPrototypeOf(at)) {
  const all = Reflect.ownKeys(at);
  found.push(...inside.filter((name) => all.indexOf(name) >= 0));
}
found.push(...FENCED.filter((name) => globalThis[name] !== undefined));
show('found', found.join(' ') || 'nothing');
`;

test('code of a lesson has no storage, no Workers and no network', options, async () => {
  /** @type {string[]} */
  const arrived = [];
  const elsewhere = await serve(site.root, {
    headersOf: () => ({ 'access-control-allow-origin': '*' }),
    onRequest: (path) => arrived.push(path),
    onPost: (body) => arrived.push(body),
  });
  const page = await browser.newPage();
  try {
    const code = ATTEMPTS.replaceAll('ELSEWHERE', elsewhere.url)
      .replaceAll('PAGE', site.url)
      .replaceAll('FENCED', JSON.stringify(FENCED));
    await page.goto(`${site.url}#lessons?lesson=wrapper`);
    await ended(page);
    await runInstead(page, 5, code);
    await ended(page);
    const words = await resultOf(page, 5);
    assert.doesNotMatch(words, /REACHED/);
    assert.match(words, /failed.*12/);
    assert.match(words, /found.*nothing/);
    // Said where code does not wait for an error itself.
    await runInstead(page, 5, 'await indexedDB.databases();');
    await ended(page, 'error');
    assert.match(await resultOf(page, 5), /^Line 1: (ReferenceError|TypeError): .*indexedDB/);
    await runInstead(page, 5, `await fetch('${elsewhere.url}');`);
    await resultSays(page, 5, 'lesson code has no network access');
    assert.deepEqual(arrived, []);
  } finally {
    await page.evaluate(() => localStorage.clear());
    await page.close();
    elsewhere.close();
  }
});

for (const [words, code] of [
  ['a step that is not there', 'headwiseLesson.enter(1e9);\nawait new Promise(() => {});'],
  ['a step that is none', "headwiseLesson.enter('__proto__');\nawait new Promise(() => {});"],
  ['steps without end', 'for (;;) headwiseLesson.enter(4);'],
]) {
  lessonTest(
    `code that tells the page of ${words} is ended, and says so`,
    'wrapper',
    async (page) => {
      await runInstead(page, 5, code);
      await ended(page, 'error');
      assert.match(await resultOf(page, 5), /^The code was stopped: .*not lesson results/);
      assert.equal(
        await page.$eval('.lesson > .busy', (busy) => busy.hasAttribute('hidden')),
        true,
      );
    },
  );
}

lessonTest('code cannot call what the page holds', 'wrapper', async (page) => {
  // As the package's Workers are spoken with: a function of the page’s has a constructor, which takes code.
  const call =
    "{ call: 1, id: 1, path: ['constructor'], how: 'call', args: ['document.title = \"taken\"'] }";
  const post = `(globalThis.postMessage ?? (() => {}))`;
  await runInstead(
    page,
    5,
    `${post}(${call});
for (let id = 1; id < 9; id++) ${post}({ call: 1 + id, id, path: [], how: 'call', args: [] });
await new Promise((resolve) => setTimeout(resolve, 300));`,
  );
  await ended(page, 'done', 'error');
  assert.notEqual(await page.title(), 'taken');
});

lessonTest(
  'a long error is shown without its midst, and of a drawing that is none that it cannot be',
  'wrapper',
  async (page) => {
    await runInstead(page, 5, "throw new Error('y'.repeat(3e7));");
    await ended(page, 'error');
    const words = await resultOf(page, 5);
    assert.match(words, /^Line 1: Error: y+…y+/);
    assert.ok(words.length < 1100, `${words.length}`);
    await runInstead(
      page,
      5,
      `const { map } = Array.prototype;
Array.prototype.map = () => null;
headwiseLesson.modules['../tools.js'].showBars('none', { a: 1 });
Array.prototype.map = map;`,
    );
    await ended(page);
    assert.match(await resultOf(page, 5), /^What this step has shown cannot be drawn: TypeError/);
  },
);

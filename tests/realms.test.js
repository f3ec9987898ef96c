// The package inside another realm, as jsdom, Jest and iframes have them: its own Object, Array and Float32Array, while what
// callers hand over, files and messages come from here.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';
import * as here from 'headwise';
import { writeNpy, writeSafetensors } from 'headwise/formats';
import { Gpt2 } from 'headwise/gpt2';
import { Decoder, loadModel } from 'headwise/models';
import { load as loadThere } from 'headwise/worker';
import { runNode } from './child.js';
import { allClose, data, rejectsCode, throwsCode } from './helpers.js';

const hasModules = vm.SourceTextModule !== undefined;
const wasm = new URL('../web/headwise/wasm/headwise-simd128.wasm', import.meta.url);

/** Classes of the platform's, of which every page has its own. */
const classes = { AbortSignal, Blob, ReadableStream, Response, URL };
const functions = { atob, clearTimeout, fetch, process, setTimeout, TextDecoder, TextEncoder };

/** A context that has classes of its own, as jsdom has. */
function createPage() {
  const context = vm.createContext({ ...functions });
  for (const [name, Class] of Object.entries(classes))
    context[name] = vm.runInContext('(Outer) => class extends Outer {}', context)(Class);
  return context;
}

/**
 * The package's entries as a context evaluates them.
 * @param {vm.Context} [context]
 * @returns {(name: string) => Promise<any>}
 */
function realm(context = createPage()) {
  /** @type {Map<string, vm.SourceTextModule>} */
  const modules = new Map();
  /** @param {string} url */
  const get = async (url) => {
    const known = modules.get(url);
    if (known !== undefined) return known;
    const source = await readFile(new URL(url), 'utf8');
    const made = new vm.SourceTextModule(source, {
      context,
      identifier: url,
      initializeImportMeta: (meta) => Object.assign(meta, { url }),
      importModuleDynamically: /** @type {any} */ (
        (/** @type {string} */ specifier) => import(specifier)
      ),
    });
    // Two may have asked for it.
    modules.set(url, modules.get(url) ?? made);
    return /** @type {vm.SourceTextModule} */ (modules.get(url));
  };
  return async (name) => {
    const entry = await get(import.meta.resolve(name));
    await entry.link((specifier, { identifier }) => get(new URL(specifier, identifier).href));
    await entry.evaluate();
    return entry.namespace;
  };
}

/**
 * Numbers of a module that is made and fed from here.
 * @param {any} hw an engine, perhaps in a Worker
 * @param {any} x
 */
async function numbersOf(hw, x) {
  await hw.manualSeed(123n);
  const mha = await new hw.MultiHeadAttention({ dIn: 3, dOut: 4, contextLength: 6, numHeads: 2 });
  const options = {
    mask: here.tensor([
      [true, false],
      [true, true],
    ]),
    needWeights: true,
  };
  const { output, weights } = await mha.forward(x, options);
  const { output: scaled } = await hw.scaledDotProductAttention(x, x, x, { window: [1, 0] });
  const state = await mha.stateDict();
  await mha.loadStateDict(state);
  return [output, weights, scaled, state['out_proj.weight']].map(({ shape, data: values }) => ({
    shape: [...shape],
    values: [...values],
  }));
}

const loads = {
  headwise: { wasm },
  'headwise/inline': {},
  'headwise/worker': { wasm },
};

if (hasModules) {
  for (const [entry, options] of Object.entries(loads))
    test(`${entry} gives the same numbers in another realm`, async () => {
      const there = await realm()(entry);
      const engine = await here.load({ wasm });
      const expected = await numbersOf(engine, data(7, [2, 3]));
      const hw = await there.load(options);
      const x = data(7, [2, 3]);
      assert.deepEqual(await numbersOf(hw, there.tensor(x.data, x.shape)), expected, 'its tensors');
      assert.deepEqual(await numbersOf(hw, x), expected, 'tensors from here');
      assert.deepEqual(await numbersOf(hw, there.tensor(x.toNested())), expected, 'arrays');
      assert.equal(hw.info.simd, 'simd128');
      await hw.dispose();
      engine.dispose();
    });

  test('a module, an address or an answer of another realm is what load takes', async () => {
    const bytes = await readFile(wasm);
    const { buffer } = new Uint8Array(bytes);
    const type = { headers: { 'content-type': 'application/wasm' } };
    const signal = new AbortController().signal;
    for (const entry of ['headwise', 'headwise/worker']) {
      const { load } = await realm()(entry);
      for (const source of [
        bytes,
        buffer,
        new DataView(buffer),
        await WebAssembly.compile(bytes),
        new Response(bytes, type),
        wasm,
        wasm.href,
      ]) {
        const hw = await load({ wasm: source, signal, threads: 1 });
        assert.equal(hw.info.simd, 'simd128', String(source));
        await hw.dispose();
      }
      const aborted = AbortSignal.abort(new Error('enough'));
      await assert.rejects(load({ wasm, signal: aborted }), /enough/);
    }
  });

  test('two threads run in another realm', async () => {
    const there = await realm()('headwise');
    const hw = await there.load({ threads: 2 });
    assert.deepEqual([hw.info.threads, hw.info.threadsReason], [2, '']);
    allClose(hw.softmax(data(1, [2, 3])), hw.softmax(there.tensor(data(1, [2, 3]).toNested())));
    hw.dispose();
  });

  test('a context without any class of the platform has an engine', async () => {
    const { load, tensor } = await realm(vm.createContext({}))('headwise');
    const hw = await load({ wasm: await readFile(wasm) });
    assert.deepEqual([...hw.softmax(tensor([[0, 0]])).data], [0.5, 0.5]);
    hw.dispose();
  });

  test('an engine of another copy of the package is told from what is none', async () => {
    const { load } = await realm()('headwise');
    const hw = await load({ wasm });
    const same = 'an engine of the same copy of headwise';
    throwsCode(() => new Decoder(hw, { model_type: 'gpt2' }), 'ERR_VALUE', 'hw is', same);
    await rejectsCode(loadModel(hw, 'org/name'), 'ERR_VALUE', 'hw is', same);
    hw.dispose();
    const far = /** @type {any} */ (await loadThere({ wasm }));
    const own = 'new hw.Decoder(config)';
    throwsCode(() => new Decoder(far, { model_type: 'gpt2' }), 'ERR_VALUE', 'hw is', own);
    await far.dispose();
  });

  test('files of another realm are read', async () => {
    const there = await realm()('headwise/formats');
    const file = writeSafetensors({ x: here.tensor([1, 2]) });
    const npy = writeNpy(here.tensor([1, 2]));
    const { signal } = new AbortController();
    /** @type {((bytes: Uint8Array<ArrayBuffer>) => any)[]} */
    const sources = [
      (bytes) => bytes,
      (bytes) => bytes.slice().buffer,
      (bytes) => new Blob([bytes]),
      (bytes) => new File([bytes], 'x'),
      (bytes) => new Response(bytes),
      (bytes) => new Blob([bytes]).stream(),
      (bytes) =>
        new URL(`data:application/octet-stream;base64,${btoa(String.fromCharCode(...bytes))}`),
    ];
    for (const source of sources) {
      const { tensors } = await there.readSafetensors(source(file), { signal });
      assert.deepEqual([...tensors.x.data], [1, 2], String(source));
      assert.deepEqual([...(await there.readNpy(source(npy), { signal })).data], [1, 2]);
    }
    assert.deepEqual(there.writeSafetensors({ x: here.tensor([1, 2]) }).length, file.length);
  });

  test('a GPT-2 is loaded by a config and weights of another realm', async () => {
    const options = { vocabSize: 5, contextLength: 4, dModel: 4, numHeads: 2, numLayers: 1 };
    const config = { vocab_size: 5, n_positions: 4, n_embd: 4, n_head: 2, n_layer: 1 };
    const engine = await here.load({ wasm });
    const expected = new Gpt2(engine, options);
    const weights = writeSafetensors(expected.stateDict());
    const importThere = realm();
    const hw = await (await importThere('headwise')).load({ wasm });
    const { loadGpt2 } = await importThere('headwise/gpt2');
    const model = await loadGpt2(hw, { config, weights });
    const headMask = here.tensor([[1, 0.5]]);
    const ids = Uint8Array.of(1, 4);
    const logits = (/** @type {any} */ one) => [...one.forward(ids, { headMask }).logits.data];
    assert.deepEqual(logits(model), logits(expected));
    assert.deepEqual([...model.generate([1])].length, 4);
    const far = await (await importThere('headwise/worker')).load({ wasm });
    const { signal } = new AbortController();
    for (const source of [weights, new Blob([weights]), new Response(weights)]) {
      const there = await loadGpt2(far, { config, weights: source, signal, onProgress: () => {} });
      const { logits: answered } = await there.forward(ids, { headMask });
      assert.deepEqual([...answered.data], logits(expected));
    }
    await far.dispose();
    hw.dispose();
    engine.dispose();
  });
} else {
  test('with modules of Node’s vm', async () => {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const args = ['--experimental-vm-modules', fileURLToPath(import.meta.url)];
    const { status, stdout, stderr } = await runNode('realms', args, { env });
    assert.equal(status, 0, stdout + stderr);
  });
}

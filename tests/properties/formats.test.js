// Tensor files: random tensors come back as they were; random bytes and broken files give a HeadwiseError or what they hold.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  HeadwiseError,
  openSafetensors,
  readGpt2Config,
  readNpy,
  readSafetensors,
  Tensor,
  writeNpy,
  writeSafetensors,
} from 'headwise/formats';
import {
  decodable,
  decode,
  npyFile,
  safetensorsFile,
  sameValues,
  sizeOfType,
  streamOf,
} from '../formats.js';
import { boolData } from '../helpers.js';
import { numbers, tensorOf } from './arbitraries.js';
import { checkProperty } from './check.js';

const shape = fc.array(fc.nat(5), { maxLength: 4 });
const tensors = fc
  .tuple(shape, numbers({ finite: false }), fc.boolean())
  .map(([sizes, how, isBool]) =>
    isBool ? boolData(how.seed, sizes.length === 0 ? [1] : sizes) : tensorOf(sizes, how),
  )
  .filter(({ shape: sizes, dtype }) => dtype === 'float32' || !sizes.includes(0));
const names = fc.string({ unit: 'binary', maxLength: 8 }).filter((name) => name !== '__metadata__');
const chunks = fc
  .array(fc.nat(100), { minLength: 1, maxLength: 5 })
  .filter((sizes) => sizes.some((size) => size > 0));

/** Bytes as one of the things that they can be read from. */
const sources = fc.oneof(
  fc.constant((/** @type {Uint8Array} */ bytes) => bytes),
  fc.constant((/** @type {Uint8Array} */ bytes) => new Blob([bytes.slice()])),
  chunks.map((sizes) => (/** @type {Uint8Array} */ bytes) => streamOf(bytes, sizes)),
);

/** @typedef {import('headwise').AnyTensor} AnyTensor */

/** @param {AnyTensor} actual @param {AnyTensor} expected */
function same(actual, expected) {
  assert.deepEqual([...actual.shape], [...expected.shape]);
  assert.equal(actual.dtype, expected.dtype);
  sameValues(actual.data, expected.data, 'tensor');
}

/**
 * What a promise gives, or undefined if it is a HeadwiseError.
 * @template T
 * @param {Promise<T>} promise
 */
async function orRefused(promise) {
  try {
    return await promise;
  } catch (error) {
    assert.ok(error instanceof HeadwiseError, /** @type {Error} */ (error)?.stack);
    return undefined;
  }
}

checkProperty(
  'tensors come back from .safetensors, in pieces of any size',
  fc.asyncProperty(
    fc.dictionary(names, tensors, { maxKeys: 5 }),
    fc.option(fc.dictionary(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' })), {
      nil: undefined,
    }),
    sources,
    fc.integer({ min: 1, max: 300 }),
    async (all, metadata, source, pieceBytes) => {
      const read = await readSafetensors(source(writeSafetensors(all, metadata)), { pieceBytes });
      assert.deepEqual({ ...read.metadata }, { ...metadata });
      assert.deepEqual(Object.keys(read.tensors).sort(), Object.keys(all).sort());
      for (const [name, x] of Object.entries(all)) same(read.tensors[name], x);
    },
  ),
);

checkProperty(
  'a tensor comes back from .npy',
  fc.asyncProperty(tensors, sources, async (x, source) =>
    same(await readNpy(source(writeNpy(x))), x),
  ),
);

/**
 * Fails unless what was read is what the header says and the bytes are, by a second, slower reading.
 * @param {Uint8Array} file
 * @param {Record<string, AnyTensor>} read
 */
function checkAgainst(file, read) {
  const length = Number(new DataView(file.buffer).getBigUint64(0, true));
  const { __metadata__: _, ...infos } = JSON.parse(
    new TextDecoder('utf-8', { fatal: true }).decode(file.subarray(8, 8 + length)),
  );
  assert.deepEqual(Object.keys(read).sort(), Object.keys(infos).sort());
  const covered = new Uint8Array(file.length - 8 - length);
  for (const [name, { dtype, shape: sizes, data_offsets: offsets }] of Object.entries(infos)) {
    const bytes = file.subarray(8 + length + offsets[0], 8 + length + offsets[1]);
    const elements = sizes.reduce((/** @type {number} */ a, /** @type {number} */ b) => a * b, 1);
    assert.equal(bytes.length, elements * sizeOfType(dtype));
    assert.deepEqual([...read[name].shape], sizes);
    sameValues(read[name].data, decode(dtype, bytes), name);
    for (let at = offsets[0]; at < offsets[1]; at++) covered[at]++;
  }
  assert.ok(covered.every((count) => count === 1));
}

/** A valid file with tensors of all types: what is in it, by its header and its data. */
const layouts = fc
  .tuple(
    fc.uniqueArray(fc.tuple(names, fc.constantFrom(...decodable), shape), {
      maxLength: 5,
      selector: ([name]) => name,
    }),
    fc.integer(),
  )
  .map(([entries, seed]) => {
    let end = 0;
    const header = entries.map(([name, dtype, sizes]) => {
      const start = end;
      end += sizes.reduce((a, b) => a * b, 1) * sizeOfType(dtype);
      return /** @type {const} */ ([name, { dtype, shape: sizes, data_offsets: [start, end] }]);
    });
    const bytes = Uint8Array.from(
      { length: end },
      (_, i) => Math.imul(i + seed, 0x9e3779b1) >>> 24,
    );
    return { header, bytes };
  });

checkProperty(
  'files of all types hold what a slower reading finds',
  fc.asyncProperty(layouts, sources, fc.nat(8), async ({ header, bytes }, source, padding) => {
    const text = JSON.stringify(Object.fromEntries(header)) + ' '.repeat(padding);
    const file = safetensorsFile(text, bytes);
    checkAgainst(file, (await readSafetensors(source(file), { pieceBytes: 64 })).tensors);
  }),
);

const odd = fc.oneof(
  fc.constantFrom(0, 1, 2, 3, 4, 8, 12, 16, -1, 0.5, 2 ** 31, 2 ** 32, 2 ** 53, 1e300),
  fc.constantFrom(null, true, '4', [], [1], {}, 'F32', 'I8', 'F8_E5M2'),
);

/** Changes to one entry's fields, which leave valid JSON. */
const fieldChanges = fc.array(
  fc.tuple(
    fc.nat(4),
    fc.constantFrom('dtype', 'shape', 'data_offsets', 'shape.', 'data_offsets.'),
    fc.nat(3),
    odd,
  ),
  { minLength: 1, maxLength: 3 },
);

checkProperty(
  'a header with fields changed gives a HeadwiseError or what it says',
  fc.asyncProperty(layouts, fieldChanges, sources, async ({ header, bytes }, changes, source) => {
    const infos = /** @type {[string, any][]} */ (structuredClone(header));
    for (const [which, field, at, value] of changes) {
      const info = infos[which % Math.max(1, infos.length)]?.[1];
      if (info === undefined) continue;
      const list = field.endsWith('.') ? info[field.slice(0, -1)] : undefined;
      if (Array.isArray(list)) list[at] = structuredClone(value);
      else info[field] = structuredClone(value);
    }
    const file = safetensorsFile(JSON.stringify(Object.fromEntries(infos)), bytes);
    const read = await orRefused(readSafetensors(source(file)));
    if (read !== undefined) checkAgainst(file, read.tensors);
  }),
);

/** Bytes replaced, taken out, put in, or cut off. */
const edits = fc.array(
  fc.record({
    at: fc.nat(),
    remove: fc.nat(3),
    add: fc.uint8Array({ maxLength: 3 }),
    cut: fc.constantFrom(false, false, false, true),
  }),
  { minLength: 1, maxLength: 3 },
);

/**
 * @param {Uint8Array} bytes
 * @param {{ at: number, remove: number, add: Uint8Array, cut: boolean }[]} changes
 */
function edited(bytes, changes) {
  let result = [...bytes];
  for (const { at, remove, add, cut } of changes) {
    const place = at % (result.length + 1);
    if (cut) result = result.slice(0, place);
    else result.splice(place, remove, ...add);
  }
  return Uint8Array.from(result);
}

checkProperty(
  'a .safetensors file with bytes changed gives a HeadwiseError or what it says',
  fc.asyncProperty(layouts, edits, sources, async ({ header, bytes }, changes, source) => {
    const file = edited(safetensorsFile(Object.fromEntries(header), bytes), changes);
    const read = await orRefused(readSafetensors(source(file)));
    const is64 =
      Object.keys(read?.tensors ?? {}).length > 0 &&
      /"[IU]64"/.test(new TextDecoder('latin1').decode(file));
    if (read !== undefined && !is64) checkAgainst(file, read.tensors);
  }),
);

checkProperty(
  'a .npy file with bytes changed gives a HeadwiseError or a tensor that fits the file',
  fc.asyncProperty(tensors, edits, sources, async (x, changes, source) => {
    const bytes = edited(writeNpy(x), changes);
    const read = await orRefused(readNpy(source(bytes)));
    if (read === undefined) return;
    const text = new TextDecoder('latin1').decode(bytes);
    const [, size] = /** @type {RegExpExecArray} */ (/'[<>=|]?[biuf](\d)'/.exec(text));
    assert.ok(bytes.length - read.data.length * Number(size) >= 10);
    const end = bytes.length - read.data.length * Number(size);
    assert.match(text.slice(0, end), /\}\s*$/);
    const [, tuple] = /** @type {RegExpExecArray} */ (/'shape'\s*:\s*[([]([^)\]]*)/.exec(text));
    assert.deepEqual([...read.shape], (tuple.match(/\d+/g) ?? []).map(Number));
  }),
);

checkProperty(
  'random bytes give a HeadwiseError',
  fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), sources, async (bytes, source) => {
    assert.equal(await orRefused(readNpy(source(bytes))), undefined);
    assert.equal(await orRefused(readSafetensors(source(bytes))), undefined);
  }),
);

const jsonLike = fc.string({
  unit: fc.constantFrom(...'{}[]:,"\\u0xF32 dtypeshap_offs'),
  maxLength: 60,
});

checkProperty(
  'a header of random signs gives a HeadwiseError or a file without tensors',
  fc.asyncProperty(fc.oneof(jsonLike, fc.json()), sources, async (text, source) => {
    const read = await orRefused(readSafetensors(source(safetensorsFile(text))));
    if (read !== undefined) checkAgainst(safetensorsFile(text), read.tensors);
  }),
);

/** Parts of JSON, each many times: what bounds are for. */
const bombs = fc.array(
  fc.tuple(
    fc.constantFrom(
      '[',
      ']',
      '{"a":',
      '}',
      '{},',
      '"a":{},',
      '0,',
      ' ',
      '"',
      '\\\\',
      '1',

      '{"shape":[',
    ),
    fc.oneof(fc.nat(3), fc.nat(20_000)),
  ),
  { maxLength: 6 },
);

checkProperty(
  'a header, a description and a config of parts of JSON in any number give a HeadwiseError',
  fc.asyncProperty(
    bombs,
    fc.constantFrom('', '{"x":', '{"__metadata__":'),
    async (parts, start) => {
      const text = start + parts.map(([part, count]) => part.repeat(count)).join('');
      const read = await orRefused(readSafetensors(safetensorsFile(text)));
      assert.deepEqual(Object.keys(read?.tensors ?? {}), []);
      assert.equal(await orRefused(readNpy(npyFile(text.slice(0, 9000)))), undefined);
      assert.equal(await orRefused((async () => readGpt2Config(text))()), undefined);
    },
  ),
);

const anything = fc.anything({
  withBigInt: true,
  withTypedArray: true,
  withNullPrototype: true,
  withMap: true,
});
/** Not a string: it would be an address. */
const anySource = fc.oneof(anything, tensors).filter((value) => typeof value !== 'string');
const options = fc.oneof(
  fc.dictionary(fc.constantFrom('name', 'signal', 'pieceBytes', 'wants', 'onProgress'), anything, {
    maxKeys: 2,
  }),
  anything,
);
const valid = writeSafetensors({ x: new Tensor(Float32Array.of(1, 2), [2]) });

checkProperty(
  'every function of anything works or throws a HeadwiseError',
  fc.asyncProperty(anySource, options, async (value, junk) => {
    const any = /** @type {any} */ (value);
    const anyOptions = /** @type {any} */ (junk);
    await orRefused(openSafetensors(any, anyOptions));
    await orRefused(readNpy(any, anyOptions));
    await orRefused(readSafetensors(valid, anyOptions));
    await orRefused((async () => (await openSafetensors(valid)).pieces(anyOptions).return())());
    for (const call of [
      () => writeNpy(any),
      () => writeSafetensors(any, anyOptions),
      () => writeSafetensors({ x: any }),
      () => readGpt2Config(any, anyOptions),
    ])
      await orRefused((async () => call())());
  }),
);

const fields = [
  ...['vocab_size', 'n_positions', 'n_ctx', 'n_embd', 'n_head', 'n_layer', 'n_inner', 'model_type'],
  ...['layer_norm_epsilon', 'activation_function', 'tie_word_embeddings', 'scale_attn_weights'],
];

checkProperty(
  'a config with anything in its fields gives a HeadwiseError or sizes that fit each other',
  fc.asyncProperty(
    fc.dictionary(fc.constantFrom(...fields), fc.oneof(odd, anything)),
    async (changed) => {
      const config = {
        vocab_size: 9,
        n_positions: 8,
        n_embd: 4,
        n_head: 2,
        n_layer: 1,
        ...changed,
      };
      const read = await orRefused((async () => readGpt2Config(config))());
      if (read === undefined) return;
      const { vocabSize, contextLength, dModel, numLayers, numHeads, dFf } = read;
      for (const size of [vocabSize, contextLength, dModel, numLayers])
        assert.ok(Number.isInteger(size) && size > 0);
      // n_inner 0 makes blocks of attention alone.
      assert.ok(Number.isInteger(dFf) && (dFf > 0 || changed.n_inner === 0));
      assert.equal(dModel % numHeads, 0);
    },
  ),
);

// What a TypeScript project sees of every entry, checked strictly, the package's own declarations too.
import {
  HeadwiseError,
  load,
  tensor,
  type Headwise,
  type KeyValueCache,
  type Linear,
  type LoadOptions,
  type MultiHeadAttentionOptions,
  Tensor,
  type AnyTensor,
  type NestedArray,
} from 'headwise';
import {
  openSafetensors,
  readGpt2Config,
  readNpy,
  readSafetensors,
  writeSafetensors,
  type Gpt2Config,
  type SafetensorsFile,
} from 'headwise/formats';
import {
  Gpt2,
  loadGpt2,
  type GenerateOptions,
  type Gpt2Options,
  type Gpt2Result,
} from 'headwise/gpt2';
import { Decoder, loadModel, type Encoder } from 'headwise/models';
import { MultiheadAttention, TransformerEncoderLayer } from 'headwise/torch';
import 'headwise/worker-thread.js';
import { logitLens } from 'headwise/understanding';
import { load as loadInline } from 'headwise/inline';
import { AttentionMap, drawWeights, gradient, type Cells, type Region } from 'headwise/view';
import { load as loadWorker, transfer, type Remote, type RemoteHeadwise } from 'headwise/worker';

export async function here(options: LoadOptions): Promise<number[][]> {
  const hw: Headwise = await load(options);
  const asked: MultiHeadAttentionOptions = { dIn: 3, dOut: 2, contextLength: 6, numHeads: 2 };
  const mha = new hw.MultiHeadAttention(asked);
  const { output, trace } = mha.forward(tensor([[1, 2, 3]]), { trace: true });
  const map = new AttentionMap();
  await map.show({ trace, head: 1, causal: true });
  drawWeights(map.canvas, trace.weights({ head: 0 }), { max: 'row' });
  const nested: number[][] = output.toNested();
  hw[Symbol.dispose]();
  using inline = await loadInline();
  using linear: Linear = new inline.Linear({ inFeatures: 1, outFeatures: 1 });
  console.log(linear.outFeatures);
  return nested;
}

export async function there(): Promise<Tensor> {
  await using other = await loadWorker();
  await using block = await new other.Linear({ inFeatures: 1, outFeatures: 1 });
  console.log(await block.outFeatures);
  const hw: RemoteHeadwise = await loadWorker({ threads: 'auto' });
  const mha = await new hw.MultiHeadAttention({ dIn: 3, dOut: 2, contextLength: 6, numHeads: 2 });
  const cache = await mha.createCache();
  const { output, trace } = await mha.forward(transfer(tensor([[1, 2, 3]])), {
    cache,
    trace: true,
  });
  const length: number = await cache.length;
  const shape: readonly number[] = trace.shape;
  await new AttentionMap().show({
    trace,
    head: 1,
    tokens: [gradient(), String(length + shape[0])],
  });
  const threads: number = hw.info.threads;
  await hw.dispose();
  return threads > 0 ? output : (await mha.stateDict())['W_query.weight'];
}

export async function askedThere(hw: RemoteHeadwise, maybe: boolean): Promise<Tensor[]> {
  const x = tensor([[1, 2, 3, 4]]);
  const options = { dModel: 4, numHeads: 2, dFf: 8, numLayers: 2 };
  const stack = await new hw.TransformerStack(options);
  const { weights, trace } = await stack.forward(x, { needWeights: true, trace: true });
  const map = await trace[1].map({ head: 0, size: 1 });
  const block = await new hw.TransformerBlock(options);
  const one = await block.forward(x, { needWeights: true });
  const mask = await hw.causalMask(1);
  const scores = await hw.scaledDotProductAttention(x, x, x, { needWeights: 'scores', mask });
  const turned: Tensor<'bool'> = await hw.transpose(mask);
  const product = await hw.matmul(await hw.transpose(x), x);
  // @ts-expect-error it was not asked for
  one.trace.shape;
  // @ts-expect-error it may be false
  (await stack.forward(x, { trace: maybe })).trace.length;
  // @ts-expect-error a word that is not there
  await stack.forward(x, { needWeight: true });
  // @ts-expect-error a block has no cache
  await block.forward(x, { cache: null });
  return [weights[0], map, one.weights, scores.weights, product, await hw.sum(turned)];
}

export function asked(hw: Headwise, gpt2: Gpt2, maybe: boolean): (number | boolean | Tensor)[] {
  const x = tensor([[1, 2, 3, 4]]);
  const stack = new hw.TransformerStack({ dModel: 4, numHeads: 2, dFf: 8, numLayers: 2 });
  const { weights, trace } = stack.forward(x, { needWeights: true, trace: true });
  const mask = tensor([[true]]);
  const scores = hw.scaledDotProductAttention(x, x, x, { needWeights: 'scores', mask }).weights;
  const { logits } = gpt2.forward([1, 2], { logits: [0, 2] });
  const perhaps = stack.forward(x, { trace: maybe }).trace?.[0].shape[0] ?? 0;
  // @ts-expect-error none were asked for
  gpt2.forward([1], { logits: 'none' }).logits.shape;
  // @ts-expect-error it may be false
  stack.forward(x, { trace: maybe }).trace.length;
  // @ts-expect-error a word that is not there
  stack.forward(x, { needWeight: true });
  // @ts-expect-error truth values are no numbers
  hw.matmul(mask, mask);
  const bytes: Uint8Array = hw.causalMask(2).data;
  const floats: Float32Array = logits.data;
  const [row] = x;
  const truth: boolean = mask.item();
  return [weights[0].item(), trace[1].shape[0], perhaps, scores, bytes[0], floats[0], row, truth];
}

export async function trainedThere(hw: RemoteHeadwise): Promise<Tensor[]> {
  const model = await new hw.Decoder({ model_type: 'gpt2' }, { dropout: 0.1 });
  const rows = [[1, 2, 3], [4]];
  const loss = await hw.enableGrad(() => model.loss(rows));
  await loss.backward();
  await hw.setGradEnabled(await hw.noGrad(() => rows.length > 1));
  const given = await model.loss([Int32Array.of(1, 2)], [[2, -100]], { ignoreIndex: -100 });
  const optimizer = await new hw.AdamW(await model.parameters(), { lr: 0.1 });
  model.training = false;
  optimizer.lr = 0.2;
  const rate: number = await optimizer.lr;
  const [{ betas }] = await optimizer.groups;
  const [parameter] = await model.parameters();
  parameter.requiresGrad = betas[0] > rate;
  parameter.grad = null;
  parameter.data = await parameter.data;
  await optimizer.step();
  const norm: number = await hw.clipGradNorm(await model.parameters(), 1);
  const table = await new hw.Embedding({ numEmbeddings: 9, embeddingDim: 2 });
  const { output } = await table.forward([
    [1, 2],
    [0, norm],
  ]);
  const encoder = await loadModel<Encoder>(hw, 'org/name', { dtype: 'int8' });
  const masked = await encoder.loss([[1, 2]], [[1, -100]], { tokenTypes: [[0, 1]] });
  const { hidden, trace } = await encoder.forward([1, 2], { trace: true });
  // @ts-expect-error they were not asked for
  (await encoder.forward([1, 2])).trace.length;
  const entropy = await hw.crossEntropy(hidden, [1, 2], { reduction: 'sum' });
  return [given, output, masked, entropy, await trace[0].weights({ head: 0 })];
}

export function trainedHere(hw: Headwise): Tensor[] {
  const model = new Decoder(hw, { model_type: 'gpt2' }, { dropout: 0.1 });
  const loss = hw.enableGrad(() => model.loss([[1, 2], [3]]));
  loss.backward();
  const encoder = new hw.Encoder({ model_type: 'bert' });
  return [loss, encoder.forward([1, 2], { trace: true }).trace[0].weights({ head: 0 })];
}

export const chosen = (hw: Headwise, { files }: HTMLInputElement) => files && loadModel(hw, files);
// @ts-expect-error these are no files
export const nodes = (hw: Headwise) => loadModel(hw, document.childNodes);

// @ts-expect-error it is the package's own
export const innards = (model: Decoder) => model.pointer;
// @ts-expect-error it is the package's own
export const innardsThere = (model: Remote<Decoder>) => model.checkRecording;
// @ts-expect-error it is the package's own
export const engineOf = (linear: Linear) => linear.engine;
// @ts-expect-error it is the package's own
export const engineThere = (linear: Remote<Linear>) => linear.engine;
// @ts-expect-error it is the package's own
export const projection = (attention: MultiheadAttention) => attention.out_proj;
// @ts-expect-error it is the package's own
export const firstNorm = (layer: TransformerEncoderLayer) => layer.norm1;
// @ts-expect-error the engine comes first
export const turned = (hw: Headwise) => new Decoder({ model_type: 'gpt2' }, hw);

/** What was read is numbers or truth values: its dtype tells TypeScript which. */
export async function told(hw: Headwise, nested: NestedArray): Promise<Tensor[]> {
  const { tensors } = await readSafetensors(new Uint8Array(8));
  const read = [await readNpy(new Uint8Array(8)), tensors['weight'], tensor(nested)];
  const linear = new hw.Linear({ inFeatures: 1, outFeatures: 1, bias: false });
  linear.loadStateDict({ weight: new Tensor(Float32Array.of(1), [1, 1]) });
  linear.loadStateDict(tensors);
  return read.flatMap((one) => (one.dtype === 'float32' ? [hw.softmax(one)] : []));
}

export function lengths(hw: Headwise, model: Decoder): void {
  const x = tensor([[1, 2]]);
  const kvLengths = Int32Array.of(1);
  hw.scaledDotProductAttention(x, x, x, { kvLengths });
  model.forward([[1, 2]], { lengths: kvLengths });
  model.loss([[1, 2]], null, { lengths: kvLengths });
  // @ts-expect-error neither an array nor a typed array
  hw.scaledDotProductAttention(x, x, x, { kvLengths: { length: 1, 0: 2 } });
}

/** Each line assigns what is fixed. */
export function fixed(hw: Headwise, model: Decoder, linear: Linear, cache: KeyValueCache): void {
  // @ts-expect-error
  hw.info = hw.info;
  // @ts-expect-error
  model.config = model.config;
  // @ts-expect-error
  linear.inFeatures = 3;
  // @ts-expect-error
  linear.parameters()[0].name = 'weight';
  // @ts-expect-error
  cache.dtype = 'float16';
  // @ts-expect-error
  tensor([1]).shape = [1, 1];
}

// @ts-expect-error it is no name of everyone's
export type InThread = Port;

export function rows(hw: Headwise): Tensor[] {
  const table = new hw.Embedding({ numEmbeddings: 9, embeddingDim: 2 });
  const { output } = table.forward([Int32Array.of(1, 2), BigInt64Array.of(3n, 4n)]);
  return [tensor([Float32Array.of(1, 2), [3, 4]]), output];
}

export function ofTokenizer(model: Decoder, far: Remote<Decoder>, ids: bigint[][]): unknown[] {
  const question = { target: ids[0][0], against: 5n };
  return [
    model.forward(ids, { positionIds: ids }),
    model.loss(ids, [[2n, -100]]),
    model.generate(ids[0], { stop: [7n, 8] }),
    model.attribution(ids[0], question),
    far.forward(ids),
    far.loss(ids, ids),
    // @ts-expect-error a number of tokens is no id
    model.generate(ids[0], { maxTokens: 5n }),
  ];
}

export function listened(): void {
  const map = document.querySelector('attention-map');
  map?.addEventListener('pin', ({ detail }) => detail.toFixed());
  map?.addEventListener('head', ({ detail: by }) => (by === 1 ? 'next' : 'last'));
  map?.addEventListener('pin-key', ({ detail }) => detail.toFixed());
  map?.addEventListener('view', ({ detail: part }) => part?.span.toFixed());
  map?.addEventListener('point', ({ detail: cell }) => cell?.query.toFixed());
  map?.addEventListener('error', ({ error }) => console.error(error));
  map?.addEventListener('click', ({ clientX }) => clientX.toFixed());
  // @ts-expect-error a token is a number
  map?.addEventListener('pin', ({ detail }) => detail.trim());
  if (!map) return;
  const cells = async ({ height, width }: Region): Promise<Cells> => ({
    values: new Float32Array(height * width),
  });
  map.show({ cells, tokens: ['a', 'b'], signed: true, max: 'map' });
  map.show({ weights: [[1], Float32Array.of(0.5)] });
  map.zoomable = true;
  map.view = { query: 0, key: 0, span: 1 };
  map.pins = [{ side: 'key', token: 1 }];
  map.place = { query: 1, key: -1 };
  map.style.background = gradient({ signed: true });
}

class Scaled extends (null as unknown as Headwise).Linear {
  factor = 2;
}
export const isScaled = (linear: Linear): linear is Scaled => linear instanceof Scaled;

// @ts-expect-error heads must be given
export const missing = (hw: Headwise) => new hw.MultiHeadAttention({ dIn: 3, dOut: 2 });
// @ts-expect-error a promise is no tensor
export const forgotten = async (hw: RemoteHeadwise): Promise<Tensor> => hw.rand([2]).data;
export const isOurs = (error: unknown) =>
  error instanceof HeadwiseError && error.code === 'ERR_LOAD';

export async function files(source: File, config: string): Promise<Gpt2Config> {
  const file: SafetensorsFile = await openSafetensors(source, { signal: AbortSignal.timeout(9) });
  const wants = (name: string): boolean => file.tensors.get(name)?.dtype !== 'U8';
  for await (const { name, firstRow, data } of file.pieces({ wants, onProgress: console.log })) {
    const floats: Float32Array = data;
    console.log(name, firstRow, floats.length, file.metadata.format);
  }
  const array: AnyTensor = await readNpy(new Uint8Array(8));
  new Blob([writeSafetensors({ array }, { format: 'pt' })]);
  return readGpt2Config(config, { name: 'config.json' });
}

export async function continued(hw: Headwise, files: [File, File]): Promise<number[]> {
  const [config, weights] = files;
  const onProgress = ({ loaded, total }: { loaded: number; total: number }) =>
    console.log(loaded / total);
  const model: Gpt2 = await loadGpt2(hw, { config, weights, onProgress });
  const given: Readonly<Required<Gpt2Options>> = model.options;
  const headMask = [Array<number>(given.numHeads).fill(1)];
  const cache = model.createCache();
  const { logits, trace }: Gpt2Result<'last', false, true> = model.forward([1, 2], {
    headMask,
    cache,
    trace: true,
  });
  console.log(logits.shape, trace[0].map({ head: 0, size: 8 }).toNested());
  const how: GenerateOptions = { temperature: 1, topK: 40, seed: 7n, cache };
  using small = new Gpt2(hw, { ...given, numLayers: 1, approximate: 'none' });
  return [...model.generate([3], how), ...small.generate(new Uint16Array([1]))];
}

/** What may be undefined is passed on: with exactOptionalPropertyTypes too. */
export async function passedOn(
  hw: Headwise,
  signal?: AbortSignal,
  seed?: number,
  onProgress?: () => void,
): Promise<void> {
  const other = await loadWorker({ signal, threads: undefined });
  const model = await loadModel(hw, 'org/name', { signal, onProgress });
  for (const id of model.generate([1], { seed, signal, temperature: undefined })) id.toFixed();
  const there = await loadModel(other, 'org/name', { signal });
  for await (const id of there.generate([1], { seed, signal })) id.toFixed();
  // @ts-expect-error a Decoder takes stop
  await there.generate([1], { eosTokenId: 3 }).next();
  const { trace } = model.forward([1], { trace: true, headMask: undefined, cache: undefined });
  trace[0].weights({ head: 0, batch: undefined, rows: undefined });
  new hw.AdamW([{ params: model.parameters(), lr: seed }], { lr: undefined }).step();
  await logitLens(model, [1], { signal, onProgress, target: undefined });
  await readNpy('x.npy', { signal });
  drawWeights(document.createElement('canvas'), [[1]], { max: undefined });
}

// @ts-expect-error a model has layers
export const flat: Gpt2Options = { vocabSize: 5, contextLength: 4, dModel: 2, numHeads: 1 };

export async function continuedThere(hw: RemoteHeadwise, config: URL): Promise<number[]> {
  const { signal } = new AbortController();
  const onProgress = ({ loaded, total }: { loaded: number; total: number }) =>
    console.log(loaded / total);
  const weights = await fetch('model.safetensors');
  const model = await loadGpt2(hw, { config, weights, onProgress, signal });
  const cache = await model.createCache();
  const { logits, trace } = await model.forward([1, 2], { trace: true, cache });
  const map: Tensor = await trace[0].map({ head: 0, size: model.options.numHeads });
  // @ts-expect-error none were asked for
  (await model.forward([1], { logits: 'none' })).logits.shape;
  const ids: number[] = [logits.shape[0], map.item()];
  for await (const id of model.generate([3], { maxTokens: 4, eosTokenId: 1, cache })) ids.push(id);
  await model.dispose();
  return ids;
}

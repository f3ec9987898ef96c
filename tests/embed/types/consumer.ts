// What a TypeScript project sees of every entry, checked strictly, the package's own declarations too.
import {
  HeadwiseError,
  load,
  tensor,
  type Headwise,
  type Linear,
  type LoadOptions,
  type MultiHeadAttentionOptions,
  type Tensor,
} from 'headwise';
import {
  openSafetensors,
  readGpt2Config,
  readNpy,
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
import { load as loadInline } from 'headwise/inline';
import { AttentionMap, drawWeights, gradient } from 'headwise/view';
import { load as loadWorker, transfer, type RemoteHeadwise } from 'headwise/worker';

export async function here(options: LoadOptions): Promise<number[][]> {
  const hw: Headwise = await load(options);
  const asked: MultiHeadAttentionOptions = { dIn: 3, dOut: 2, contextLength: 6, numHeads: 2 };
  const mha = new hw.MultiHeadAttention(asked);
  const { output, trace } = mha.forward(tensor([[1, 2, 3]]), { trace: true });
  const map = new AttentionMap();
  await map.show({ trace, head: 1, causal: true });
  drawWeights(map.canvas, trace!.weights({ head: 0 }), { max: 'row' });
  const nested: number[][] = output.toNested();
  hw[Symbol.dispose]();
  using inline = await loadInline();
  using linear: Linear = new inline.Linear({ inFeatures: 1, outFeatures: 1 });
  console.log(linear.outFeatures);
  return nested;
}

export async function there(): Promise<Tensor> {
  const hw: RemoteHeadwise = await loadWorker({ threads: 'auto' });
  const mha = await new hw.MultiHeadAttention({ dIn: 3, dOut: 2, contextLength: 6, numHeads: 2 });
  const cache = await mha.createCache();
  const { output, trace } = await mha.forward(transfer(tensor([[1, 2, 3]])), {
    cache,
    trace: true,
  });
  const length: number = await cache.length;
  const shape: readonly number[] = trace!.shape;
  await new AttentionMap().show({
    trace,
    head: 1,
    tokens: [gradient(), String(length + shape[0])],
  });
  const threads: number = hw.info.threads;
  await hw.dispose();
  return threads > 0 ? output : (await mha.stateDict())['W_query.weight'];
}

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
  const array: Tensor = await readNpy(new Uint8Array(8));
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
  const { logits, trace }: Gpt2Result = model.forward([1, 2], { headMask, cache, trace: true });
  console.log(logits!.shape, trace![0].map({ head: 0, size: 8 }).toNested());
  const how: GenerateOptions = { temperature: 1, topK: 40, seed: 7n, cache };
  using small = new Gpt2(hw, { ...given, numLayers: 1, approximate: 'none' });
  return [...model.generate([3], how), ...small.generate(new Uint16Array([1]))];
}

// @ts-expect-error a model has layers
export const flat: Gpt2Options = { vocabSize: 5, contextLength: 4, dModel: 2, numHeads: 1 };

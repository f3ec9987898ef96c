// What an app exports without naming its types. A project with `declaration` must be able to write them down.
import { load, tensor, type Headwise, type Tensor } from 'headwise';
import { openSafetensors, readGpt2Config, readNpy, readSafetensors } from 'headwise/formats';
import { Gpt2, loadGpt2 } from 'headwise/gpt2';
import { Decoder, loadModel, type Encoder } from 'headwise/models';
import { MultiheadAttention, TransformerEncoderLayer } from 'headwise/torch';
import * as understanding from 'headwise/understanding';
import { AttentionMap, drawWeights } from 'headwise/view';
import { load as loadWorker } from 'headwise/worker';

export const hw = await load();
export const { info, Linear, MultiHeadAttention } = hw;
export const x = tensor([[1, 2, 3, 4]]);
export const options = { dModel: 4, numHeads: 2, dFf: 8, numLayers: 2 };
export const stack = new hw.TransformerStack(options);
export const result = stack.forward(x, { trace: true, needWeights: true });
export const maybe = stack.forward(x, { trace: Math.random() > 0.5 }).trace;
export const given = stack.options;
export const attention = hw.scaledDotProductAttention(x, x, x, { needWeights: 'scores' });
export const mha = new MultiHeadAttention({ dIn: 4, dOut: 4, contextLength: 6, numHeads: 2 });
export const parameters = mha.parameters();
export const dict = mha.stateDict();
export const optimizer = new hw.AdamW(parameters, { lr: 0.1 });
export const { groups } = optimizer;
export const state = optimizer.stateDict();
export const encoderLayer = (it: Headwise) => new TransformerEncoderLayer(it, asTorch);
const asTorch = { dModel: 4, nhead: 2 };
export const torch = new MultiheadAttention(hw, { embedDim: 4, numHeads: 2 });
export const attended = torch.forward(x, x, x);

export class Net extends hw.Module {
  attention = new hw.SelfAttentionV2({ dIn: 4, dOut: 2 });
  forward(input: Tensor) {
    return this.attention.forward(input, { needWeights: true });
  }
}
export class Scaled extends hw.Linear {
  override forward(input: Tensor) {
    return super.forward(hw.matmul(input, x));
  }
}
export class Tiny extends Decoder {
  next(ids: number[]) {
    return this.forward(ids, { trace: true });
  }
}

export const open = async (id: string) => {
  const model = await loadModel(hw, id);
  return { model, config: model.config, cache: model.createCache() };
};
export const { model, config, cache } = await open('org/name');
export const next = model.forward([1], { trace: true, residuals: true, logits: [0, 1] });
export const ids = model.generate([1], { logProbabilities: true });
export const why = model.attribution([1], { target: 1 });
export const encoder = await loadModel<Encoder>(hw, 'org/name');
export const hidden = encoder.forward([1], { trace: true });
export const gpt2 = (weights: string) => loadGpt2(hw, { config: weights, weights });
export const gpt2Options = (it: Gpt2) => it.options;

export const ablated = await understanding.ablation(model, [1], { target: 1 });
export const lens = await understanding.logitLens(model, [1]);
export const scores = await understanding.headScores(model);
export const composed = await understanding.composition(model);
export const looked = await understanding.qkAttribution(model, [1], { layer: 0, head: 0, key: 0 });
export const { ablation, patching, rollout, flow, sinks } = understanding;

export const file = await openSafetensors('model.safetensors');
export const pieces = file.pieces();
export const contents = await readSafetensors('model.safetensors');
export const array = await readNpy('x.npy');
export const read = readGpt2Config('{}');
export const map = new AttentionMap();
export const { view, pins } = map;
export const draw = drawWeights;

export const there = await loadWorker();
export const linearThere = await new there.Linear({ inFeatures: 1, outFeatures: 1 });
export const modelThere = await loadModel(there, 'org/name');
export const nextThere = await modelThere.forward([1], { trace: true });
export const idsThere = modelThere.generate([1]);
export const cacheThere = await modelThere.createCache();
export const optimizerThere = await new there.SGD(await modelThere.parameters(), { lr: 0.1 });
export const groupsThere = await optimizerThere.groups;
export const stepThere = () => optimizerThere.step();

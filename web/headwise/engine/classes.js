import { Trace } from '../attention/trace.js';
import { AdamW, SGD } from '../autograd/optimizers.js';
import { nameClass } from '../checks/describe.js';
import { Decoder } from '../models/decoder.js';
import { Encoder } from '../models/encoder.js';
import { CausalAttention } from '../modules/causal-attention.js';
import { ComposedModule } from '../modules/composed-module.js';
import { Embedding } from '../modules/embedding.js';
import { FeedForward } from '../modules/feed-forward.js';
import { KeyValueCache } from '../modules/key-value-cache.js';
import { LayerNorm } from '../modules/layer-norm.js';
import { Linear } from '../modules/linear.js';
import { MultiHeadAttentionWrapper } from '../modules/multi-head-attention-wrapper.js';
import { MultiHeadAttention } from '../modules/multi-head-attention.js';
import { Parameter } from '../modules/parameter.js';
import { SelfAttentionV1, SelfAttentionV2 } from '../modules/self-attention.js';
import { TransformerBlock } from '../modules/transformer-block.js';
import { TransformerStack } from '../modules/transformer-stack.js';
import { Tensor } from '../tensor/tensor.js';

/** @typedef {import('./engine.js').Engine} Engine */
/** @typedef {import('../autograd/optimizers.js').AdamWOptions} AdamWOptions */
/** @typedef {import('../autograd/optimizers.js').SGDOptions} SGDOptions */
/** @typedef {import('../models/given-config.js').ModelOptions} ModelOptions */
/**
 * @template Settings
 * @typedef {import('../autograd/optimizers.js').Parameters<Settings>} Parameters
 */

/**
 * Makes a module class for one engine: its instances belong to that engine. Other classes may extend it.
 * @template {object} Options
 * @template {object} Instance
 * @param {Engine} engine
 * @param {new (engine: Engine, options: Options) => Instance} Module
 * @returns {new (options: Options) => Instance}
 */
function bind(engine, Module) {
  /** @param {any[]} given options; for an optimizer, parameters and then options */
  function Bound(...given) {
    // If a class extends this one, the instance is of that class.
    const Wanted = new.target === undefined || new.target === Bound ? Module : new.target;
    return Reflect.construct(Module, [engine, ...given], Wanted);
  }
  Object.defineProperty(Bound, 'prototype', { value: Module.prototype });
  return /** @type {any} */ (Bound);
}

// What is made without a class of an engine's.
for (const [name, Class] of Object.entries({ KeyValueCache, Parameter, Tensor, Trace })) {
  nameClass(Class, name);
}

/** The classes of an engine: what they make belongs to it. */
export class EngineClasses {
  /** @internal @param {Engine} engine */
  constructor(engine) {
    /**
     * torch.nn.Module: the base class for modules made of other modules. Modules of other classes, such as Linear, are no instances
     * of it.
     */
    this.Module = /** @type {new () => ComposedModule} */ (
      /** @type {unknown} */ (bind(engine, ComposedModule))
    );
    /** torch.nn.Linear */
    this.Linear = bind(engine, Linear);
    /** torch.nn.Embedding */
    this.Embedding = bind(engine, Embedding);
    /** torch.nn.LayerNorm over the last dimension */
    this.LayerNorm = bind(engine, LayerNorm);
    /** One head without a mask; `rand` draws its weights, [dIn, dOut] (exercise 3.1). */
    this.SelfAttentionV1 = bind(engine, SelfAttentionV1);
    /** SelfAttentionV1 made of Linear layers: its weights are the transposes. */
    this.SelfAttentionV2 = bind(engine, SelfAttentionV2);
    /** One head with a causal mask ("Build a Large Language Model", 3.5). */
    this.CausalAttention = bind(engine, CausalAttention);
    /** One module per head, run one after another; the outputs are concatenated (listing 3.4). */
    this.MultiHeadAttentionWrapper = bind(engine, MultiHeadAttentionWrapper);
    /** All heads in one module, split from shared projections (listing 3.5). */
    this.MultiHeadAttention = Object.assign(bind(engine, MultiHeadAttention), {
      /** Makes a module with a wrapper's weights: the fused implementation computes the same numbers. */
      fromWrapper: MultiHeadAttention.fromWrapper,
    });
    /** fc2(dropout(gelu(fc1(x)))) */
    this.FeedForward = bind(engine, FeedForward);
    /** Attention and feed-forward with residual connections and layer norms, before (pre) or after (post) each. */
    this.TransformerBlock = bind(engine, TransformerBlock);
    /** Transformer blocks one after another, in one call. */
    this.TransformerStack = bind(engine, TransformerStack);
    /** A language model of an architecture that Hugging Face's library knows: its config says which. */
    this.Decoder = /** @type {new (config: object, options?: ModelOptions) => Decoder} */ (
      /** @type {unknown} */ (bind(engine, /** @type {any} */ (Decoder)))
    );
    /** A model whose tokens attend to all tokens, such as BERT: its config says which. */
    this.Encoder = /** @type {new (config: object, options?: ModelOptions) => Encoder} */ (
      /** @type {unknown} */ (bind(engine, /** @type {any} */ (Encoder)))
    );
    /** torch.optim.AdamW */
    this.AdamW =
      /** @type {new (parameters: Parameters<AdamWOptions>, options?: AdamWOptions) => AdamW} */ (
        bind(engine, /** @type {any} */ (AdamW))
      );
    /** torch.optim.SGD */
    this.SGD =
      /** @type {new (parameters: Parameters<SGDOptions>, options?: SGDOptions) => SGD} */ (
        bind(engine, /** @type {any} */ (SGD))
      );
    for (const [name, Class] of Object.entries(this)) {
      nameClass(Class, name);
      nameClass(Class.prototype.constructor, name);
    }
    // A loop over an engine's classes finds the module classes only.
    for (const name of ['Module', 'Decoder', 'Encoder', 'AdamW', 'SGD']) {
      Object.defineProperty(this, name, { enumerable: false });
    }
  }
}

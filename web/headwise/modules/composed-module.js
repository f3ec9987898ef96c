import { Module } from './module.js';

/**
 * The base class for modules made of other modules, like torch.nn.Module. A subclass keeps modules and tensors with
 * requiresGrad in its properties, or in arrays and plain objects there. The base class finds them under their property names.
 * The subclass defines `forward`.
 */
export class ComposedModule extends Module {
  /** @internal @param {import('../engine/engine.js').Engine} engine */
  constructor(engine) {
    super(engine);
  }
}

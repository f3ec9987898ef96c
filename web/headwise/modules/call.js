// One call of a module's forward: its input, output and options are laid into staging memory, and the engine runs it.
import { runRecorded } from '../autograd/modules.js';
import { aligned } from '../engine/engine.js';
import { addressOf } from '../engine/owned.js';
import { inputBytes, writeInput } from '../engine/struct.js';
import { layExtras } from './extras.js';

/** @typedef {import('../tensor/operand.js').IdsOperand} IdsOperand */
/** @typedef {import('../tensor/operand.js').FloatOperand} FloatOperand */

/** A forward that is ready to run: nothing that follows runs code of the caller's. */
export class Call {
  /** Sequences. */
  batch = 1;
  /** The first token with logits in a decoder's output; logitsEnd is past the last. */
  logitsStart = 0;
  logitsEnd = 0;
  /** Whether each sequence's last token has the logits. */
  logitsLast = false;
  /** @type {import('./extras.js').Extras | undefined} */
  extras = undefined;
  /** Whether its graph is kept. */
  isRecorded = false;
  /** Of a call that was recorded. @type {import('../engine/owned.js').Owned | undefined} */
  graph = undefined;
  /** Of the copy that a recorded forward keeps for its backward: the weights of all layers. @type {FloatOperand | undefined} */
  weights = undefined;

  /**
   * @param {import('./module.js').Module} module
   * @param {string} name for messages
   * @param {FloatOperand | IdsOperand} input
   * @param {number} tokens of a sequence
   * @param {number} outputSize in elements
   */
  constructor(module, name, input, tokens, outputSize) {
    this.pointer = addressOf(module);
    this.name = name;
    this.input = input;
    this.tokens = tokens;
    this.outputSize = outputSize;
  }
}

/**
 * Runs a module.
 * @param {import('../engine/engine.js').Engine} engine
 * @param {Call} call
 * @returns {number} the output's address
 */
export function callModule(engine, call) {
  const { input, extras } = call;
  const dataBytes = aligned(input.size * 4);
  const bytes = inputBytes + dataBytes + call.outputSize * 4;
  const addresses = extras && layExtras(engine, extras, bytes);
  const at = addresses === undefined ? engine.stage(bytes) : addresses[0];
  const struct = addresses === undefined ? 0 : addresses[1];
  const data = at + inputBytes;
  const output = data + dataBytes;
  engine.write(data, input);
  writeInput(engine.words, at / 4, data, call);
  if (call.isRecorded) {
    runRecorded(engine, call, at, output, struct);
  } else {
    engine.check(engine.call.module_forward(call.pointer, at, output, struct), call.name);
  }
  return output;
}

// Initial weights of models.
import { addressOf } from '../engine/owned.js';
import { engineParameters } from '../modules/module.js';
import { writeParameter } from '../modules/parameters.js';
import { random } from '../tensor/functions.js';
import { operandOf } from '../tensor/operand.js';

/**
 * Draws all matrices with randn times a deviation, in the order of the state dict. After an error the model is disposed of.
 * @param {import('../modules/module.js').Module} model
 * @param {number} deviation
 */
export function drawWeights(model, deviation) {
  const { engine } = model;
  try {
    for (const parameter of engineParameters(model).filter((each) => each.shape.length === 2)) {
      const { data } = random(engine, 'randn', parameter.shape);
      data.forEach((value, i) => (data[i] = value * deviation));
      writeParameter(
        engine,
        addressOf(model),
        parameter,
        operandOf({ data, shape: parameter.shape }),
      );
    }
  } catch (error) {
    model.dispose();
    throw error;
  }
}

// Initial weights of models.
import { writeParameter } from '../modules/parameters.js';
import { random } from '../tensor/functions.js';

/**
 * Draws all matrices with randn times a deviation, in the order of the state dict. After an error the model is disposed of.
 * @param {import('../modules/module.js').Module} model
 * @param {number} deviation
 */
export function drawWeights(model, deviation) {
  const { engine, pointer } = model;
  try {
    for (const parameter of model.parameterList.filter((each) => each.shape.length === 2)) {
      const { data } = random(engine, 'randn', parameter.shape);
      data.forEach((value, i) => (data[i] = value * deviation));
      writeParameter(engine, pointer, parameter, {
        ...{ dtype: 'float32', shape: parameter.shape, data, size: data.length },
      });
    }
  } catch (error) {
    model.dispose();
    throw error;
  }
}

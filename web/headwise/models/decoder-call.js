// What the engine is asked about a decoder and one text: arguments that all such questions have.
import { checkContext, checkShape, checkTable, maybe } from '../checks/check.js';
import { checkIds, isOneText } from '../tensor/ids.js';
import { fitHeadMask } from '../modules/extras.js';
import { checkHeadMask } from '../modules/forward-options.js';

/** The option that each has. */
export const decoderOptions = { headMask: maybe(checkHeadMask) };

/**
 * Reads a text and the options.
 * @template {Record<string, (value: any, name: string) => any>} Table
 * @param {import('./config.js').ModelConfig} config
 * @param {unknown} ids
 * @param {object} options
 * @param {Table} table checks of the options, `decoderOptions` among them
 * @param {string} name of what is asked
 */
export function readDecoderCall(config, ids, options, table, name) {
  const given = checkTable(options, table, name);
  const input = checkIds(ids, config.vocabSize);
  checkShape(input, 'ids', isOneText(input), () => '[tokens]');
  checkContext(input.size, 'ids', config.contextLength);
  fitHeadMask(given.headMask, config.numLayers, config.numHeads);
  return { ...given, input };
}

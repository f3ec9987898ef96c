// The command line of npm run heads.
import { readFile } from 'node:fs/promises';
import { MODELS } from '../../web/page/explore/models.js';
import { isSeed, number, parse, UsageError } from '../../web/build/command-line.js';

export const USAGE =
  'usage: npm run heads -- <model folder> [--text file | --ids file] [--seed 1] [--json]\n' +
  'The folder has config.json, model.safetensors and, unless --ids gives token ids, tokenizer.json.';

/** @param {string} file ids with anything between */
async function readIds(file) {
  const ids = ((await readFile(file, 'utf8')).match(/-?[\d.]+/g) ?? []).map(Number);
  if (ids.length > 1 && ids.every((id) => Number.isInteger(id) && id >= 0)) return ids;
  throw new UsageError(`--ids is ${file}; expected a file with two or more token ids`);
}

/** @param {readonly string[]} args */
function parseOptions(args) {
  return parse({
    args: [...args],
    allowPositionals: true,
    options: {
      text: { type: 'string' },
      ids: { type: 'string' },
      seed: { type: 'string', default: '1' },
      json: { type: 'boolean', default: false },
    },
  });
}

/**
 * @param {readonly string[]} args
 * @throws {UsageError}
 */
export async function readOptions(args) {
  const { values, positionals } = parseOptions(args);
  const [folder] = positionals;
  if (positionals.length !== 1) throw new UsageError('expected one model folder');
  if (values.text !== undefined && values.ids !== undefined) {
    throw new UsageError('--text and --ids are both given; expected one of them');
  }
  return {
    folder,
    text: values.text === undefined ? MODELS.austen.sample : await readFile(values.text, 'utf8'),
    ids: values.ids === undefined ? undefined : await readIds(values.ids),
    seed: number('seed', values.seed, isSeed, 'a whole number of at least 0'),
    json: values.json,
  };
}

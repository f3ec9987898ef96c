// npm run make:model: a model of random weights in the shape of a published one, for benchmarks and to try the page with.
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  choose,
  chooseOne,
  isSeed,
  number,
  parse,
  runScript,
  UsageError,
} from '../../../web/build/command-line.js';
import { shapes } from './shapes.js';
import { ggufTypes, writeGgufModel } from './to-gguf.js';
import { dtypes, writeModel } from './write.js';

/** 2,048 tokens, which every shape has. */
const OWN_TOKENIZER = fileURLToPath(
  new URL('../../../web/page/models/austen/tokenizer.json', import.meta.url),
);

const USAGE = `usage: npm run make:model -- SHAPE FOLDER [--dtype bfloat16] [--seed 1] [--tokenizer tokenizer.json]
                                        [--gguf q8_0,f16]
SHAPE: ${Object.keys(shapes).join(', ')}; --dtype: ${Object.keys(dtypes).join(', ')}
--tokenizer: one of no more ids than the shape has, which is copied; default: that of the page’s model austen
--gguf: also as files for llama.cpp, with a tokenizer of single characters: some of ${ggufTypes.join(', ')}`;

/** @param {readonly string[]} args */
function readOptions(args) {
  const { positionals, values } = parse({
    args: [...args],
    allowPositionals: true,
    options: {
      dtype: { type: 'string', default: 'bfloat16' },
      seed: { type: 'string', default: '1' },
      tokenizer: { type: 'string', default: OWN_TOKENIZER },
      gguf: { type: 'string' },
    },
  });
  if (positionals.length !== 2) throw new UsageError('expected a shape and a folder');
  const [name, folder] = positionals;
  if (!Object.hasOwn(shapes, name)) throw new UsageError(`the shape ${name} is unknown`);
  const asked = values.gguf === undefined ? [] : choose('gguf', values.gguf, ggufTypes);
  return {
    ...{ folder, config: shapes[name], tokenizer: values.tokenizer },
    dtype: chooseOne('dtype', values.dtype, Object.keys(dtypes)),
    seed: number('seed', values.seed, isSeed, 'a whole number of at least 0'),
    gguf: ggufTypes.filter((type) => asked.includes(type)),
  };
}

/** @param {readonly string[]} args */
async function main(args) {
  const { folder, config, dtype, seed, tokenizer, gguf } = readOptions(args);
  // First what may be missing: the weights take a while.
  await mkdir(folder, { recursive: true });
  await copyFile(tokenizer, join(folder, 'tokenizer.json'));
  const { parameters, bytes } = await writeModel(folder, config, { dtype, seed });
  for (const type of gguf) await writeGgufModel(folder, type);
  console.log(
    `${folder}: ${(parameters / 1e6).toFixed(1)} million weights, ${(bytes / 1e6).toFixed(0)} MB`,
  );
}

await runScript(main, USAGE);

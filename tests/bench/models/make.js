// npm run make:model: a model of random weights in the shape of a published one, for benchmarks and to try the page with.
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
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

try {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      dtype: { type: 'string', default: 'bfloat16' },
      seed: { type: 'string', default: '1' },
      tokenizer: { type: 'string', default: OWN_TOKENIZER },
      gguf: { type: 'string', default: '' },
    },
  });
  const [name = '', folder = ''] = positionals;
  const { dtype, seed, tokenizer } = values;
  const asked = values.gguf.split(',').filter(Boolean);
  const gguf = ggufTypes.filter((type) => asked.includes(type));
  const isKnown = Object.hasOwn(shapes, name) && Object.hasOwn(dtypes, dtype);
  if (positionals.length !== 2 || !isKnown || gguf.length < asked.length) throw new Error(USAGE);
  const { parameters, bytes } = await writeModel(folder, shapes[name], {
    dtype,
    seed: Number(seed),
  });
  await copyFile(tokenizer, join(folder, 'tokenizer.json'));
  for (const type of gguf) await writeGgufModel(folder, type);
  console.log(
    `${folder}: ${(parameters / 1e6).toFixed(1)} million weights, ${(bytes / 1e6).toFixed(0)} MB`,
  );
} catch (error) {
  console.error(/** @type {Error} */ (error).message);
  process.exitCode = 1;
}

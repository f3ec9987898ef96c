// What the peers' benchmark bundles as a site would, into build/bench-peers.
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

/**
 * Headwise: the peers ship bundles, Headwise ships modules and leaves that to the site; page.html's import map leads there.
 * And tfjs's gradients, which are in none of its bundles.
 */
export const bundle = () =>
  build({
    configFile: false,
    root: fileURLToPath(new URL('../../..', import.meta.url)),
    base: './',
    logLevel: 'warn',
    build: {
      outDir: 'build/bench-peers',
      emptyOutDir: true,
      target: 'es2022',
      assetsInlineLimit: 0,
      modulePreload: false,
      rolldownOptions: {
        input: {
          headwise: 'web/headwise/index.js',
          'tfjs-gradients':
            'tests/bench/peers/node_modules/@tensorflow/tfjs-core/dist/register_all_gradients.js',
        },
        preserveEntrySignatures: 'strict',
        output: { entryFileNames: '[name].js' },
      },
    },
  });

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, defineConfig } from 'vite';

// What browsers ask for before they give a page SharedArrayBuffer, and with it threads.
const headers = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

/** In the page's foot, where there is a reference: beside the page that was built. */
const linkOfReference = {
  name: 'link-of-reference',
  apply: /** @type {const} */ ('build'),
  transformIndexHtml: (/** @type {string} */ html) =>
    html.replace(
      '<!-- API reference -->',
      '<p class="note"><a href="./reference/index.html">API reference</a></p>',
    ),
};

/**
 * page/early.js, which is no module: Vite leaves such scripts alone. In the build it has a hash in its name, as all files have.
 *
 * @returns {import('vite').Plugin}
 */
function earlyScript() {
  const source = readFileSync(new URL('web/page/early.js', import.meta.url), 'utf8');
  const hash = createHash('sha256').update(source).digest('base64url').slice(0, 8);
  const fileName = `assets/early-${hash}.js`;
  return {
    name: 'headwise-early-script',
    apply: 'build',
    transformIndexHtml(html) {
      if (!html.includes('./page/early.js')) throw new Error('index.html names no ./page/early.js');
      return html.replace('./page/early.js', `./${fileName}`);
    },
    generateBundle() {
      this.emitFile({ type: 'asset', fileName, source });
    },
  };
}

/**
 * The service worker beside the page, with the names of all files of this build: all but index.html carry the hash of their
 * content.
 *
 * @type {import('vite').Plugin}
 */
const serviceWorker = {
  name: 'headwise-service-worker',
  apply: 'build',
  async writeBundle({ dir = '' }, bundle) {
    const files = Object.keys(bundle).sort();
    const index = await readFile(join(dir, 'index.html'));
    const version = createHash('sha256').update(files.join()).update(index).digest('hex');
    const source = new URL('web/page/offline/service-worker.js', import.meta.url);
    const known = `self.headwiseBuild = ${JSON.stringify({ version: version.slice(0, 16), files })};\n`;
    await writeFile(join(dir, 'service-worker.js'), known + (await readFile(source, 'utf8')));
  },
};

/**
 * `import { code, hash } from './entry.js?bundle'`: the entry with all it imports, as the text of one classic script, and
 * its hash for a Content Security Policy. For pages that visitors save.
 *
 * @type {import('vite').Plugin}
 */
const bundledText = {
  name: 'headwise-bundled-text',
  enforce: 'pre',
  async load(id) {
    const [entry, query] = id.split('?');
    if (query !== 'bundle') return null;
    const result = await build({
      configFile: false,
      logLevel: 'warn',
      build: {
        write: false,
        target: 'es2022',
        modulePreload: false,
        rollupOptions: { input: entry, output: { format: 'iife' } },
      },
    });
    const { output } = /** @type {import('vite').Rollup.RollupOutput} */ (result);
    const code = output[0].code.replaceAll('</script', '<\\/script');
    const hash = `sha256-${createHash('sha256').update(code).digest('base64')}`;
    return `export const code = ${JSON.stringify(code)}; export const hash = ${JSON.stringify(hash)};`;
  },
};

export default defineConfig({
  server: { headers },
  preview: { headers },
  root: 'web',
  plugins: [linkOfReference, earlyScript(), bundledText, serviceWorker],
  // Relative addresses: the build works in any folder of any static host.
  base: './',
  build: {
    outDir: '../dist',
    emptyOutDir: true,
    target: 'es2022',
    // Small files too: a policy that names origins refuses to fetch data: addresses.
    assetsInlineLimit: 0,
    // The tokenizer's table, loaded only when somebody types, is one chunk.
    chunkSizeWarningLimit: 1200,
  },
  worker: { format: 'es' },
  // Met too late for the dev server: the tokenizer in the worker, the editor in the lessons, Explore's templates.
  optimizeDeps: {
    include: [
      '@codemirror/commands',
      '@codemirror/lang-javascript',
      '@codemirror/language',
      '@codemirror/state',
      '@codemirror/view',
      '@lezer/highlight',
      '@preact/signals-core',
      'd3-scale',
      'd3-scale-chromatic',
      'd3-shape',
      'fflate',
      'gpt-tokenizer/encoding/r50k_base',
      'gpt-tokenizer/bpeRanks/r50k_base',
      'lit-html',
      'lit-html/async-directive.js',
      'lit-html/directive.js',
      'lit-html/directives/repeat.js',
    ],
  },
});

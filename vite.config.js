import { defineConfig } from 'vite';

export default defineConfig({
  root: 'web',
  // Relative addresses: the build works in any folder of any static host.
  base: './',
  build: {
    outDir: '../dist',
    emptyOutDir: true,
    target: 'es2022',
    // The tokenizer's table, loaded only when somebody types, is one chunk.
    chunkSizeWarningLimit: 1200,
  },
  worker: { format: 'es' },
  // The tokenizer is first met in the worker, too late for the dev server.
  optimizeDeps: {
    include: [
      'd3-scale-chromatic',
      'gpt-tokenizer/encoding/r50k_base',
      'gpt-tokenizer/bpeRanks/r50k_base',
    ],
  },
});

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
});

import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

// A static site: everything is rendered once, by the build.
export default {
  output: 'export',
  serverExternalPackages: ['headwise'],
  turbopack: { root: dirname(dirname(fileURLToPath(import.meta.url))) },
};

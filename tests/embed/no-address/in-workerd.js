// As README has it for Cloudflare Workers.
import wasm from 'headwise/wasm/headwise-simd128.wasm';
import { attempts } from './attempts.js';

export default {
  test: async () => console.log(JSON.stringify(await attempts(wasm))),
};

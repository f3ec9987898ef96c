import { attempts } from './attempts.js';

attempts('headwise-simd128.wasm').then((results) => console.log(JSON.stringify(results)));

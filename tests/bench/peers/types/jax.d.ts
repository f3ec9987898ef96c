// The little that the benchmark uses of @jax-js/jax, which the project does not install.
export interface Array {
  readonly ref: Array;
  readonly shape: number[];
  add(other: Array | number): Array;
  sub(other: Array | number): Array;
  mul(other: Array | number): Array;
  div(other: Array | number): Array;
  reshape(shape: number[]): Array;
  transpose(axes?: number[]): Array;
  slice(...ranges: number[][]): Array;
  data(): Promise<Float32Array>;
  dispose(): void;
}
type Arrays = Record<string, Array>;
export const numpy: {
  array(data: Float32Array | number[]): Array;
  matmul(a: Array, b: Array): Array;
  split(a: Array, sections: number, axis?: number): Array[];
  sum(a: Array): Array;
  square(a: Array): Array;
  sqrt(a: Array): Array;
  reciprocal(a: Array): Array;
  minimum(a: Array, b: number): Array;
};
export const nn: {
  standardize(x: Array, axis: number, options: { epsilon: number }): Array;
  softmax(x: Array, axis: number): Array;
  logSoftmax(x: Array, axis: number): Array;
  gelu(x: Array, options: { approximate: boolean }): Array;
};
export function jit<F extends (...args: any[]) => any>(f: F): F;
export function valueAndGrad<Rest extends Array[]>(
  f: (first: Arrays, ...rest: Rest) => Array,
): (first: Arrays, ...rest: Rest) => [Array, Arrays];
export function blockUntilReady<T>(values: T): Promise<T>;
export function init(device: 'wasm'): Promise<unknown>;

// The little that the benchmark uses of @tensorflow/tfjs-core, which the project does not install.
export interface Tensor {
  readonly shape: readonly number[];
  dataSync(): Float32Array;
  dispose(): void;
}
export function tensor(data: Float32Array, shape: readonly number[]): Tensor;
export interface Variable extends Tensor {
  readonly name: string;
  assign(value: Tensor): void;
}
export function variable(value: Tensor, trainable: boolean, name: string): Variable;
export function variableGrads(
  loss: () => Tensor,
  variables: Variable[],
): { value: Tensor; grads: Record<string, Tensor> };
export function add(a: Tensor, b: Tensor | number): Tensor;
export function sub(a: Tensor, b: Tensor): Tensor;
export function mul(a: Tensor, b: Tensor | number): Tensor;
export function div(a: Tensor, b: Tensor): Tensor;
export function square(a: Tensor): Tensor;
export function sqrt(a: Tensor): Tensor;
export function rsqrt(a: Tensor): Tensor;
export function exp(a: Tensor): Tensor;
export function log(a: Tensor): Tensor;
export function tanh(a: Tensor): Tensor;
export function sum(a: Tensor, axis?: number, keepDims?: boolean): Tensor;
export function mean(a: Tensor, axis?: number, keepDims?: boolean): Tensor;
export function max(a: Tensor, axis?: number, keepDims?: boolean): Tensor;
export function slice(a: Tensor, begin: readonly number[], size: readonly number[]): Tensor;
export function zeros(shape: readonly number[]): Tensor;
export function matMul(a: Tensor, b: Tensor, transposeA?: boolean, transposeB?: boolean): Tensor;
export function transpose(a: Tensor, axes?: readonly number[]): Tensor;
export function softmax(a: Tensor): Tensor;
export function reshape(a: Tensor, shape: readonly number[]): Tensor;
export function concat(parts: readonly Tensor[], axis: number): Tensor;
export function split(a: Tensor, parts: number | readonly number[], axis: number): Tensor[];
export function tidy<T>(forward: () => T): T;
export function env(): { set(flag: string, value: boolean): void };
export function setBackend(name: 'wasm'): Promise<boolean>;
export function ready(): Promise<void>;

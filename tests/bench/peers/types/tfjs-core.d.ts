// The little that the benchmark uses of @tensorflow/tfjs-core, which the project does not install.
export interface Tensor {
  readonly shape: readonly number[];
  dataSync(): Float32Array;
  dispose(): void;
}
export function tensor(data: Float32Array, shape: readonly number[]): Tensor;
export function add(a: Tensor, b: Tensor): Tensor;
export function mul(a: Tensor, b: Tensor | number): Tensor;
export function matMul(a: Tensor, b: Tensor, transposeA?: boolean, transposeB?: boolean): Tensor;
export function transpose(a: Tensor, axes?: readonly number[]): Tensor;
export function softmax(a: Tensor): Tensor;
export function reshape(a: Tensor, shape: readonly number[]): Tensor;
export function concat(parts: readonly Tensor[], axis: number): Tensor;
export function split(a: Tensor, parts: number | readonly number[], axis: number): Tensor[];
export function tidy(forward: () => Tensor): Tensor;
export function env(): { set(flag: string, value: boolean): void };
export function setBackend(name: 'wasm'): Promise<boolean>;
export function ready(): Promise<void>;

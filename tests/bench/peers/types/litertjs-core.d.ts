// The little that the benchmark uses of @litertjs/core, which the project does not install.
export class Tensor {
  constructor(data: Float32Array, shape: number[]);
  toTypedArray(): Float32Array;
  delete(): void;
}
export interface CompiledModel {
  run(inputs: Tensor[]): Promise<Tensor[]>;
  delete(): void;
}
export function loadLiteRt(path: string, options: { threads: boolean }): Promise<unknown>;
export function loadAndCompile(
  model: Uint8Array,
  options: { accelerator: 'wasm'; cpuOptions: { numThreads: number } },
): Promise<CompiledModel>;

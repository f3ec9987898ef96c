// The little that the benchmark uses of onnxruntime-web/wasm, which the project does not install.
export const env: { logLevel: string; wasm: { numThreads: number } };
export class Tensor {
  constructor(type: 'float32', data: Float32Array, dims: readonly number[]);
  readonly data: Float32Array;
}
export interface InferenceSession {
  readonly outputNames: readonly string[];
  run(feeds: Record<string, Tensor>): Promise<Record<string, Tensor>>;
  release(): Promise<void>;
}
export const InferenceSession: {
  create(model: Uint8Array, options: { executionProviders: ['wasm'] }): Promise<InferenceSession>;
};

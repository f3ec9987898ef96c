// The little that the benchmark uses of @tensorflow/tfjs-backend-wasm, which the project does not install.
export function setWasmPaths(prefix: string): void;
export function setThreadsCount(threads: number): void;
export function getThreadsCount(): number;

// The little that the benchmark uses of @wllama/wllama, which the project does not install.
export const LoggerWithoutDebug: object;
export class Wllama {
  constructor(paths: { default: string }, config: { suppressNativeLog: boolean; logger: object });
  loadModel(
    files: Blob[],
    options: { n_threads: number; n_gpu_layers: number; n_parallel: number },
  ): Promise<void>;
  getNumThreads(): number;
  createCompletion(options: {
    prompt: string;
    max_tokens: number;
    temperature: number;
    logprobs: number;
  }): Promise<{
    // Otherwise than in its own types.
    choices: {
      logprobs: { content: { top_logprobs: { id: number; logprob: number }[] }[] };
    }[];
    usage: {
      prompt_tokens: number;
      completion_tokens: number;
      prompt_tokens_details: { cached_tokens: number };
    };
  }>;
}

// Whether the engine of a Worker records, as this side's calls set it.

/**
 * What the function of a stretch returns stays here.
 * @param {() => () => void} begin notes the mode here
 * @param {(fn: unknown) => Promise<unknown>} inWorker
 * @returns {(fn: unknown) => Promise<unknown>}
 */
const stretch = (begin, inWorker) => async (fn) => {
  if (typeof fn !== 'function') return inWorker(fn);
  /** @type {unknown} */
  let result;
  const end = begin();
  const run = async () => {
    try {
      result = await fn();
    } finally {
      end();
    }
  };
  await inWorker(run).finally(end);
  return result;
};

/**
 * Notes how the Worker records: shape methods of recorded tensors run here.
 * @param {any} hw the engine there, whose methods are replaced
 * @param {import('../autograd/recording-modes.js').RecordingModes} modes
 */
export function noteRecording(hw, modes) {
  hw.enableGrad = stretch(() => modes.begin(true), hw.enableGrad);
  hw.noGrad = stretch(() => modes.begin(false), hw.noGrad);
  const { setGradEnabled } = hw;
  hw.setGradEnabled = (/** @type {unknown} */ mode) => {
    if (typeof mode === 'boolean') modes.set(mode);
    return setGradEnabled(mode);
  };
}

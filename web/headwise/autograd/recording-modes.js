/** Whether an engine records operations for backward: the mode of the stretch that began last, or else the engine's own. */
export class RecordingModes {
  #modes = [{ mode: false }];

  get latest() {
    return this.#modes[this.#modes.length - 1].mode;
  }

  /** @param {boolean} mode of the latest stretch, or of the engine */
  set(mode) {
    this.#modes[this.#modes.length - 1].mode = mode;
  }

  /**
   * Begins a stretch; async ones may end in any order.
   * @param {boolean} mode
   * @returns {() => void} ends it
   */
  begin(mode) {
    const stretch = { mode };
    this.#modes.push(stretch);
    return () => {
      this.#modes = this.#modes.filter((each) => each !== stretch);
    };
  }
}

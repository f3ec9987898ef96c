/** Whether an engine records operations for backward: the mode of the stretch that began last, or else the engine's own. */
export class RecordingModes {
  #modes = [{ mode: false }];
  /** A field: every call of the engine reads it. */
  latest = false;

  /** @param {any[]} modes */
  #take(modes) {
    this.#modes = modes;
    this.latest = modes.at(-1).mode;
  }

  /** @param {boolean} mode of the latest stretch, or of the engine */
  set(mode) {
    /** @type {any} */ (this.#modes.at(-1)).mode = mode;
    this.#take(this.#modes);
  }

  /**
   * Begins a stretch; async ones may end in any order.
   * @param {boolean} mode
   * @returns {() => void} ends it
   */
  begin(mode) {
    const stretch = { mode };
    this.#take([...this.#modes, stretch]);
    return () => this.#take(this.#modes.filter((each) => each !== stretch));
  }
}

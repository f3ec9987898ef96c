const words = 624;
const middle = 397;

/** Of a word torch takes the lower 24 bits: as many as float32 holds. */
const unit = 2 ** -24;

/**
 * MT19937 (Matsumoto & Nishimura 1998), as torch's CPU generator and src/core/random.c: with the same seed the numbers of
 * `hw.rand`, but of a state of its own.
 */
export class MersenneTwister {
  #state = new Uint32Array(words);
  #next = words;

  /** @param {number} seed its low 32 bits are used, as in torch */
  constructor(seed) {
    const state = this.#state;
    state[0] = seed;
    for (let j = 1; j < words; j++) {
      state[j] = Math.imul(1812433253, state[j - 1] ^ (state[j - 1] >>> 30)) + j;
    }
  }

  #twist() {
    const state = this.#state;
    for (let j = 0; j < words; j++) {
      const y = (state[j] & 0x80000000) | (state[(j + 1) % words] & 0x7fffffff);
      state[j] = state[(j + middle) % words] ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
    }
    this.#next = 0;
  }

  /** A number in [0, 1): the next that torch.rand would give. */
  uniform() {
    if (this.#next === words) {
      this.#twist();
    }
    let y = this.#state[this.#next++];
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    y ^= y >>> 18;
    return (y & 0xffffff) * unit;
  }
}

// Reads bytes from a source, one part after another.
import { orAbort } from '../checks/abort.js';
import { describe } from '../checks/describe.js';
import { HeadwiseError } from '../checks/error.js';
import { newArray } from '../tensor/shape.js';

/** What the readers share: their file's name and the signals that end them. */
export class Reader {
  /**
   * @param {string} name what messages call the file
   * @param {readonly (AbortSignal | undefined)[]} signals
   */
  constructor(name, signals) {
    this.name = name;
    this.signals = signals;
    /** Bytes of the file, where that is known before its end. @type {number | undefined} */
    this.size = undefined;
    /** What a server said, in words. @type {string | undefined} */
    this.answer = undefined;
    /** Of Hugging Face's hub: the commit that the file is of. @type {string | undefined} */
    this.commit = undefined;
  }

  /** @param {AbortSignal | undefined} signal one more that ends this */
  addSignal(signal) {
    this.signals = [...this.signals, signal];
  }

  /**
   * What will be read, for those that fetch it.
   * @param {readonly (readonly [start: number, end: number])[]} _runs
   */
  plan(_runs) {}

  /** @throws an abort's reason */
  throwIfAborted() {
    for (const signal of this.signals) {
      signal?.throwIfAborted();
    }
  }

  /**
   * @template T
   * @param {Promise<T>} promise of something that reading gives
   * @param {string} expected
   * @returns {Promise<T>}
   * @throws {HeadwiseError} ERR_LOAD; an abort's reason
   */
  async wait(promise, expected) {
    try {
      return await this.signals.reduce(orAbort, promise);
    } catch (cause) {
      this.throwIfAborted();
      const problem = `could not be read (${/** @type {Error} */ (cause)?.message ?? describe(cause)})`;
      throw new HeadwiseError('ERR_LOAD', `${this.name}: ${problem}; expected ${expected}`, {
        cause,
      });
    }
  }

  /** @param {string} problem @param {unknown} [cause] */
  formatError(problem, cause) {
    return new HeadwiseError('ERR_FORMAT', `${this.name}: ${problem}`, { cause });
  }
}

/** Reads what can be read at any place, and again: bytes in memory, or a file. */
export class PartReader extends Reader {
  #whole;
  #position;

  /**
   * @param {string} name
   * @param {Uint8Array | Blob} whole
   * @param {readonly (AbortSignal | undefined)[]} signals
   * @param {number} [position] of the first byte to read
   */
  constructor(name, whole, signals, position = 0) {
    super(name, signals);
    this.#whole = whole;
    this.#position = position;
    this.size = 'size' in whole ? whole.size : whole.length;
  }

  /**
   * The next bytes: as many as asked for, fewer at the end. They may be the caller's own memory.
   * @param {number} length
   */
  async read(length) {
    this.throwIfAborted();
    const start = this.#position;
    this.#position += length;
    if ('subarray' in this.#whole) {
      return this.#whole.subarray(start, start + length);
    }
    const part = this.#whole.slice(start, start + length).arrayBuffer();
    return new Uint8Array(await this.wait(part, 'a file, not a folder, that does not change'));
  }

  /**
   * Passes over bytes.
   * @param {number} length
   * @returns {Promise<number>} how many there were
   */
  async skip(length) {
    this.throwIfAborted();
    const there = Math.min(length, Math.max(0, /** @type {number} */ (this.size) - this.#position));
    this.#position += length;
    return there;
  }

  /**
   * A reader of the same from a place on.
   * @param {number} position
   * @param {AbortSignal | undefined} signal
   * @returns {PartReader | StreamReader}
   */
  from(position, signal) {
    return new PartReader(this.name, this.#whole, [...this.signals, signal], position);
  }

  /** Ends reading. */
  close() {}
}

/** So much of a stream is waited for at first, however much a header claims. */
const firstBytes = 2 ** 20;

/** The used members of a ReadableStreamDefaultReader. @typedef {Pick<ReadableStreamDefaultReader<any>, 'read' | 'cancel' | 'releaseLock'>} Chunks */

/** Reads what arrives in pieces of its own lengths. */
export class ArrivingReader extends Reader {
  /** What has come and was not read. */
  #rest;

  /**
   * @param {string} name
   * @param {readonly (AbortSignal | undefined)[]} signals
   * @param {Uint8Array} [rest] what has come
   */
  constructor(name, signals, rest = new Uint8Array(0)) {
    super(name, signals);
    this.#rest = rest;
  }

  /** The next piece. @returns {Promise<Uint8Array | undefined>} undefined: the end was reached */
  async next() {
    return undefined;
  }

  /** @param {unknown} piece what a stream gave @throws {HeadwiseError} ERR_VALUE */
  checkPiece(piece) {
    if (!ArrayBuffer.isView(piece)) {
      throw new HeadwiseError(
        'ERR_VALUE',
        `${this.name}: the stream gave ${describe(piece)}; expected a Uint8Array`,
      );
    }
    return new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength);
  }

  /** How many bytes have come and were not read. */
  get waiting() {
    return this.#rest.length;
  }

  /** Waits for bytes. @returns {Promise<boolean>} whether there are any, or the end was reached */
  async hasMore() {
    while (this.#rest.length === 0) {
      this.throwIfAborted();
      const piece = await this.next();
      if (piece === undefined) {
        return false;
      }
      this.#rest = piece;
    }
    return true;
  }

  /** How many bytes are made room for at first. @param {number} length that is asked for */
  roomFor(length) {
    return Math.min(length, firstBytes);
  }

  /** @param {number} most */
  take(most) {
    const taken = this.#rest.subarray(0, most);
    this.#rest = this.#rest.subarray(taken.length);
    return taken;
  }

  /**
   * The next bytes: as many as asked for, fewer at the end.
   * @param {number} length
   */
  async read(length) {
    let bytes = newArray(Uint8Array, this.roomFor(length));
    let filled = 0;
    while (filled < length && (await this.hasMore())) {
      const part = this.take(length - filled);
      if (filled + part.length > bytes.length) {
        const longer = Math.min(length, Math.max(2 * bytes.length, filled + part.length));
        const grown = newArray(Uint8Array, longer);
        grown.set(bytes.subarray(0, filled));
        bytes = grown;
      }
      bytes.set(part, filled);
      filled += part.length;
    }
    return bytes.subarray(0, filled);
  }
}

/** Reads a stream, once. */
export class StreamReader extends ArrivingReader {
  #chunks;
  #isTaken = false;

  /**
   * @param {string} name
   * @param {Chunks} chunks its stream's, which is this reader's from now on
   * @param {readonly (AbortSignal | undefined)[]} signals
   * @param {string} [answer] a server's, in words
   */
  constructor(name, chunks, signals, answer) {
    super(name, signals);
    this.#chunks = chunks;
    this.answer = answer;
  }

  /** @override */
  async next() {
    const { done, value } = await this.wait(this.#chunks.read(), 'a stream that does not fail');
    if (done) {
      return undefined;
    }
    return this.checkPiece(value);
  }

  /**
   * Passes over bytes.
   * @param {number} length
   * @returns {Promise<number>} how many there were
   */
  async skip(length) {
    let skipped = 0;
    while (skipped < length && (await this.hasMore())) {
      skipped += this.take(length - skipped).length;
    }
    return skipped;
  }

  /**
   * This, for one who reads on.
   * @param {number} _position where the header ended, and this stands
   * @param {AbortSignal | undefined} signal
   * @returns {PartReader | StreamReader}
   * @throws {HeadwiseError} ERR_VALUE the second time
   */
  from(_position, signal) {
    if (this.#isTaken) {
      throw new HeadwiseError(
        'ERR_VALUE',
        `${this.name}: what arrives as a stream can be read once; expected a Blob, a File or bytes to read again, or to open it again`,
      );
    }
    this.#isTaken = true;
    this.addSignal(signal);
    return this;
  }

  /** Ends reading, a download too. */
  close() {
    this.#isTaken = true;
    // A stream that failed cannot be cancelled; that it failed was said where it was read.
    this.#chunks.cancel().catch(() => undefined);
    this.#chunks.releaseLock();
  }
}

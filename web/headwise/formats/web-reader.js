import { orAbort } from '../checks/abort.js';
import { describe } from '../checks/describe.js';
import { HeadwiseError } from '../checks/error.js';
import { discard } from '../checks/response.js';
import { newArray } from '../tensor/shape.js';
import { FileCache } from './file-cache.js';
import { ArrivingReader } from './reader.js';
import { shortened } from './shortened.js';
import { readerOfResponse } from './source.js';
import { ChangedError, isFixed, PassingError, WebFile } from './web-file.js';

/** @typedef {import('./reader.js').StreamReader} StreamReader */

/** Where less is not wanted between two parts, they are fetched as one. */
const smallestGap = 2 ** 16;

/** So much is fetched at a time while it is not known what will be read. */
const blindBytes = 2 ** 20;

/** So much is kept in the cache as one part. */
const storedBytes = 2 ** 23;

/** How often a download that brings nothing new is tried again, and how long is waited before, at first. */
const attempts = 4;
const firstWait = 200;

/** The longest wait that a server may ask for, in milliseconds: of a longer one the caller is told. */
const longestWait = 15_000;

/** @param {readonly (readonly [start: number, end: number])[]} runs in order @returns {[start: number, end: number][]} */
function joined(runs) {
  /** @type {[number, number][]} */
  const all = [];
  for (const [start, end] of runs) {
    const last = all.at(-1);
    if (last !== undefined && start - last[1] < smallestGap) {
      last[1] = end;
    } else if (end > start) {
      all.push([start, end]);
    }
  }
  return all;
}

/** What a server asks for. @param {unknown} error @returns {number} milliseconds */
const waitFor = (error) => (error instanceof PassingError ? error.wait : 0);

/**
 * Waits, longer after each failure, and as long as the server asks.
 * @param {number} failures before the last
 * @param {unknown} error the last
 * @param {readonly (AbortSignal | undefined)[]} signals that end it
 * @throws an abort's reason
 */
async function pause(failures, error, signals) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const waited = new Promise((resolve) => {
    timer = setTimeout(resolve, Math.max(firstWait * 2 ** failures, waitFor(error)));
  });
  try {
    await signals.reduce(orAbort, waited);
  } finally {
    clearTimeout(timer); // or Node waits for it
  }
}

/** Reads a file on a server that gives parts: only what is read is fetched, and a download that is cut goes on. */
export class WebReader extends ArrivingReader {
  #file;
  #cache;
  /** Where the next bytes come from, after those that wait. */
  #at;
  /** @type {[start: number, end: number][] | undefined} */
  #runs;
  /** @type {import('./web-file.js').PartStream | undefined} */
  #stream;
  /** Ends what is being fetched. */
  #end = new AbortController();
  #streamEnd = 0;
  #failures = 0;
  /** What has come after the part that is read. @type {Uint8Array} */
  #ahead = new Uint8Array(0);
  /** What has come of the part that will be stored. @type {Uint8Array<ArrayBuffer> | undefined} */
  #storing;
  #storedAt = 0;

  /**
   * @param {WebFile} file whose beginning is here
   * @param {FileCache | undefined} cache
   * @param {readonly (AbortSignal | undefined)[]} signals
   * @param {number} [position]
   */
  constructor(file, cache, signals, position = 0) {
    super(file.name, signals, file.head.subarray(position));
    this.#file = file;
    this.#cache = cache;
    this.size = file.size;
    this.#at = Math.max(position, file.head.length);
    this.commit = file.commit;
    this.answer = 'the server answered with a page';
  }

  /** @override @param {readonly (readonly [start: number, end: number])[]} runs */
  plan(runs) {
    this.#runs = joined(runs);
  }

  /** Where the run ends that a place lies in. @param {number} at */
  #runEnd(at) {
    const run = this.#runs?.find(([start, end]) => start <= at && at < end);
    return Math.min(run?.[1] ?? at + blindBytes, this.size ?? Infinity);
  }

  #closeStream() {
    this.#end.abort();
    this.#end = new AbortController();
    this.#stream?.cancel().catch(() => undefined);
    this.#stream = undefined;
    this.#ahead = new Uint8Array(0);
    this.#storing = undefined;
  }

  /** Where the part ends that is being stored, or else the one that begins here. */
  get #partEnd() {
    const start = this.#storing === undefined ? this.#at : this.#storedAt;
    return Math.min(start + storedBytes, this.#streamEnd);
  }

  /** The part that begins here, from the cache. One of another length was not stored by this. */
  async #stored() {
    if (this.#storing !== undefined || this.#file.version === '') {
      return undefined;
    }
    const end = this.#partEnd;
    const stored = await this.#cache?.match(`${this.#file.version} ${this.#at}-${end}`);
    return stored?.bytes.length === end - this.#at ? stored.bytes : undefined;
  }

  /** @param {Uint8Array} bytes that came, from #at on, of one part */
  async #store(bytes) {
    if (this.#cache === undefined || this.#file.version === '') {
      return;
    }
    if (this.#storing === undefined) {
      this.#storing = newArray(Uint8Array, this.#partEnd - this.#at);
      this.#storedAt = this.#at;
    }
    const whole = this.#storing;
    this.#storing.set(bytes, this.#at - this.#storedAt);
    const end = this.#storedAt + whole.length;
    if (this.#at + bytes.length === end) {
      this.#storing = undefined;
      await this.#cache.put(`${this.#file.version} ${this.#storedAt}-${end}`, whole);
    }
  }

  /** The next bytes from the server. @returns {Promise<Uint8Array | undefined>} undefined: the file has ended */
  async #fetched() {
    if (this.#stream === undefined) {
      const part = this.#file.part(this.#at, this.#streamEnd, this.#end.signal);
      this.#stream = await this.signals.reduce(orAbort, part);
      if (this.#stream === undefined) {
        return undefined;
      }
    }
    if (this.#ahead.length === 0) {
      const { done, value } = await this.signals.reduce(orAbort, this.#stream.read());
      if (done) {
        this.#stream = undefined;
        const problem = `${this.name}: the connection was cut; expected the rest`;
        throw new PassingError('ERR_LOAD', problem);
      }
      this.#ahead = this.checkPiece(value).subarray(0, this.#streamEnd - this.#at);
    }
    // No further than the part: the next one may be in the cache.
    const bytes = this.#ahead.subarray(0, this.#partEnd - this.#at);
    this.#ahead = this.#ahead.subarray(bytes.length);
    return bytes;
  }

  /** @param {unknown} cause why a connection was cut, time and again */
  #cut(cause) {
    const why = /** @type {Error | undefined} */ (cause)?.message ?? describe(cause);
    return this.#file.error(`could not be read (${why}); expected the rest`, cause);
  }

  /** The next bytes, tried again where that may help. @returns {Promise<Uint8Array | undefined>} */
  async #persistent() {
    for (;;) {
      this.throwIfAborted();
      try {
        const bytes = await this.#fetched();
        this.#failures = 0;
        return bytes;
      } catch (cause) {
        this.throwIfAborted();
        this.#stream = undefined;
        if (cause instanceof ChangedError) {
          await this.#cache?.sweep(() => false);
        }
        if (cause instanceof HeadwiseError && !(cause instanceof PassingError)) {
          throw cause;
        }
        if (++this.#failures > attempts || waitFor(cause) > longestWait) {
          throw cause instanceof HeadwiseError ? cause : this.#cut(cause);
        }
        await pause(this.#failures - 1, cause, this.signals);
      }
    }
  }

  /** @override */
  async next() {
    if (this.#at >= (this.size ?? Infinity)) {
      return undefined;
    }
    if (this.#at >= this.#streamEnd) {
      this.#closeStream();
      this.#streamEnd = this.#runEnd(this.#at);
    }
    const stored = await this.#stored();
    if (stored !== undefined) {
      this.#closeStream();
    }
    const bytes = stored ?? (await this.#persistent());
    if (bytes !== undefined) {
      if (stored === undefined) {
        await this.#store(bytes);
      }
      this.#at += bytes.length;
    }
    return bytes;
  }

  /** @override @param {number} length */
  roomFor(length) {
    const left = (this.size ?? Infinity) - this.#at + this.waiting;
    return Math.max(0, Math.min(left, length));
  }

  /**
   * Passes over bytes, which are fetched only if they lie within what will be read.
   * @param {number} length
   * @returns {Promise<number>} how many there were
   */
  async skip(length) {
    let skipped = this.take(length).length;
    while (skipped < length) {
      const left = length - skipped;
      if (this.#at + left > this.#streamEnd) {
        const there = Math.min(left, (this.size ?? Infinity) - this.#at);
        this.#closeStream();
        this.#at += there;
        return skipped + there;
      }
      if (!(await this.hasMore())) {
        break;
      }
      skipped += this.take(left).length;
    }
    return skipped;
  }

  /**
   * A reader of the same from a place on.
   * @param {number} position
   * @param {AbortSignal | undefined} signal
   */
  from(position, signal) {
    this.#closeStream();
    return new WebReader(this.#file, this.#cache, [...this.signals, signal], position);
  }

  /** Ends reading, a download too. */
  close() {
    this.#closeStream();
  }
}

/**
 * Asks for all of a file, or for its beginning after all if the server says that it gives parts.
 * @param {WebFile} file
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<Response | undefined>} as WebFile.begin
 */
async function reachWhole(file, signal) {
  const whole = await file.whole(signal);
  if (whole.headers.get('accept-ranges') !== 'bytes') {
    return whole;
  }
  const begun = await file.begin(signal).catch(() => whole);
  if (begun !== whole) {
    discard(whole);
  }
  return begun;
}

/**
 * Asks for a file's beginning, again where that may help. Where nobody answers waiting seldom does, but a connection may have been
 * cut.
 * @param {WebFile} file
 * @param {AbortSignal | undefined} signal
 * @param {boolean} isPatient
 * @returns {Promise<Response | undefined>} as WebFile.begin
 */
async function reach(file, signal, isPatient) {
  for (let failures = 0; ; failures++) {
    try {
      return await orAbort(file.begin(signal), signal);
    } catch (error) {
      if (!(error instanceof PassingError)) {
        throw error;
      }
      const isLast = failures >= (error.isAnswer ? attempts : 1);
      if (isPatient && isLast && !error.isAnswer && file.mayForbidRanges) {
        return orAbort(reachWhole(file, signal), signal);
      }
      if (!isPatient || isLast || error.wait > longestWait) {
        throw error;
      }
      await pause(failures, error, [signal]);
    }
  }
}

/**
 * Stores a file's beginning, and forgets what is of another version or commit.
 * @param {WebFile} file
 * @param {FileCache} cache
 * @param {Headers | undefined} stored
 */
async function keepBeginning({ url, version, size, commit = '', head }, cache, stored) {
  const known = stored?.get('x-commit');
  if (version === '' || (stored?.get('x-version') === version && known === commit)) {
    return;
  }
  await cache.sweep((part) => part.startsWith(`${version} `));
  if (known && known !== commit) {
    await cache.forget(url.href.replace(/\/resolve\/.*/, `/resolve/${known}/`));
  }
  await cache.put('head', head, {
    ...{ 'x-version': version, 'x-size': `${size ?? ''}`, 'x-commit': commit },
  });
}

/**
 * Reads a file's beginning from the cache or from the server. If the server does not answer, it reads from the cache.
 * @param {WebFile} file
 * @param {FileCache | undefined} cache
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<Response | undefined>} as WebFile.begin
 */
async function begin(file, cache, signal) {
  const stored = await cache?.match('head');
  const restore = () => {
    const { bytes, headers } = /** @type {NonNullable<typeof stored>} */ (stored);
    file.head = bytes;
    file.version = isFixed(file.url) ? file.versionOf(headers) : (headers.get('x-version') ?? '');
    file.size = Number(headers.get('x-size')) || undefined;
    file.commit = headers.get('x-commit') || undefined;
  };
  if (stored !== undefined && isFixed(file.url)) {
    restore();
    return undefined;
  }
  try {
    const response = await reach(file, signal, stored === undefined);
    if (response === undefined && cache !== undefined) {
      await keepBeginning(file, cache, stored?.headers);
    }
    return response;
  } catch (error) {
    if (stored === undefined || !(error instanceof PassingError)) {
      throw error;
    }
    restore();
    return undefined;
  }
}

/**
 * Opens a file on a server. What the server gives in parts is fetched as it is read; else it is a stream.
 * @param {URL} url
 * @param {{ name?: string, fetch: import('./web-file.js').Fetch, signal: AbortSignal | undefined, isKept: boolean }} options
 *   name: what messages call it; isKept: whether parts are kept in the browser's cache
 * @returns {Promise<WebReader | StreamReader>}
 * @throws {HeadwiseError} ERR_LOAD; an abort's reason
 */
export async function openWeb(url, { name = shortened(url.href), fetch, signal, isKept }) {
  const address = new URL(url);
  address.hash = ''; // no server sees it, and no cache tells it apart
  const file = new WebFile(address, name, fetch);
  const cache = isKept ? await FileCache.open(address.href, signal) : undefined;
  const response = await begin(file, cache, signal);
  if (response === undefined) {
    return new WebReader(file, cache, [signal]);
  }
  const reader = readerOfResponse(response, name, signal);
  reader.commit = file.commit;
  return reader;
}

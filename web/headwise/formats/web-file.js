// A file on a server: reads its beginning, and any part of it if the server supports range requests.
import { describe } from '../checks/describe.js';
import { HeadwiseError } from '../checks/error.js';
import { answerOf, answerWithType, discard } from '../checks/response.js';
import { shortened } from './shortened.js';
import { UnclearError } from './source.js';

/** @typedef {typeof globalThis.fetch} Fetch */

/** So much is fetched at first: most headers are shorter. */
const headBytes = 2 ** 16;

/** Answers that another attempt may change. */
const passing = [408, 425, 429, 500, 502, 503, 504];

/** What the platform's fetch throws, also inside a caller's own, where nothing answers. */
const fetchFailed = /^(Failed to fetch|fetch failed|Load failed|Network ?Error|network error)/;

/** What an answer's status means on Hugging Face's hub. @type {Readonly<Record<number, string>>} */
const meanings = {
  401: 'it is private or gated, or there is no such model: expected one that is open, or options.fetch to send a token',
  403: 'you must request access to it: expected one that is open, or options.fetch to send a token',
};

/** An address under which a file never changes: Hugging Face's of a commit. @param {URL} url */
export const isFixed = ({ href }) => /\/resolve\/[0-9a-f]{40}\//.test(href);

/** A fetch that did not come about, or an answer that may be another one next time. */
export class PassingError extends HeadwiseError {
  /** Whether there was an answer. */
  isAnswer = false;
  /** How long the server asks to wait, in milliseconds. */
  wait = 0;
}

/** There is no such file. */
export class AbsentError extends HeadwiseError {}

/** What is wrong with a file of which a later answer is another version's. */
export const changed = 'changed while it was read; expected a file that stays as it is';

/** A part is of another version than the beginning. */
export class ChangedError extends HeadwiseError {}

/** Why nothing answered, as far as that can be known. @param {URL} url */
function whyNot(url) {
  // Not the location's origin: a frame in a sandbox has none of its own.
  const { navigator, origin } = /** @type {any} */ (globalThis);
  if (navigator?.onLine === false) {
    return 'this machine is offline';
  }
  return origin === undefined || origin === url.origin
    ? 'no response from the server'
    : 'no response from the server, or it does not allow pages of other origins (CORS)';
}

/** Of an answer with a part: where it begins, and the file's length if the server says it. @param {Response} response */
function rangeOf(response) {
  const match = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(response.headers.get('content-range') ?? '');
  const size = match === null || match[2] === '*' ? undefined : Number(match[2]);
  return { start: match === null ? undefined : Number(match[1]), size };
}

/** The length of a whole answer, where it is told; NaN: it is not. @param {Response} response */
const lengthOf = ({ headers }) => Number(headers.get('content-length') ?? NaN);

/**
 * Whether an answer is a part of the compressed file, which cannot be read without what comes before. Chromium answers so from a
 * whole one that it keeps, if a server compresses files and does not say that others may get them plain (`Vary`).
 * @param {Response} response
 */
const isEncodedPart = ({ status, headers }) =>
  status === 206 && (headers.get('content-encoding') ?? 'identity') !== 'identity';

/** How long a server asks to wait: seconds, or a date (RFC 9110, 10.2.3). @param {Response} response @returns {number} milliseconds */
function waitOf({ headers }) {
  const after = headers.get('retry-after') ?? '';
  const wait = /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - Date.now();
  return wait > 0 ? wait : 0;
}

/** @param {Response} response */
const streamOf = ({ body }) => (body ?? new Blob([]).stream()).getReader();

/** What is read of a part. @typedef {Pick<ReadableStreamDefaultReader<Uint8Array>, 'read' | 'cancel'>} PartStream */

/**
 * A stream from a place on. What comes before is passed over, and not held.
 * @param {PartStream} stream
 * @param {number} start
 * @param {AbortSignal} [signal]
 * @returns {Promise<PartStream>}
 */
async function streamFrom(stream, start, signal) {
  let left = start;
  let next = await stream.read();
  while (!next.done && next.value.length <= left) {
    left -= next.value.length;
    if (signal?.aborted) await stream.cancel(signal.reason);
    signal?.throwIfAborted();
    next = await stream.read();
  }
  /** @type {typeof next | undefined} */
  let first = next.done ? next : { done: false, value: next.value.subarray(left) };
  const read = async () => {
    const now = first ?? (await stream.read());
    first = undefined;
    return now;
  };
  return { read, cancel: (reason) => stream.cancel(reason) };
}

/**
 * What comes of an answer, as far as it was asked for or up to where the connection is cut: the rest is asked for as any other
 * part.
 * @param {Response} response
 * @param {number} length bytes that were asked for: a server may send more, and not stop
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
async function arrivedOf(response, length, signal) {
  const chunks = [];
  let left = length;
  try {
    const stream = streamOf(response);
    for (let next = await stream.read(); !next.done; next = await stream.read()) {
      const bytes = /** @type {Uint8Array<ArrayBuffer>} */ (next.value);
      chunks.push(bytes.subarray(0, left));
      left -= bytes.length;
      // Not before more has come: an answer that has ended leaves its connection to the next one.
      if (left < 0) {
        stream.cancel().catch(() => undefined);
        break;
      }
    }
  } catch {
    signal?.throwIfAborted();
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

export class WebFile {
  /** Bytes, where the server says it. @type {number | undefined} */
  size;
  /** '' if the server does not say it. */
  version = '';
  /** Of Hugging Face's hub, whose answers name it. @type {string | undefined} */
  commit;
  /** Its first bytes. @type {Uint8Array<ArrayBuffer>} */
  head = new Uint8Array(0);

  /**
   * @param {URL} url
   * @param {string} name what messages call it
   * @param {Fetch} fetch
   */
  constructor(url, name, fetch) {
    this.url = url;
    this.name = name;
    this.fetch = fetch;
  }

  /**
   * What tells a version of the file from others; '' if nothing does. A commit's file has one, whatever its storage says.
   * @param {Headers} headers of an answer
   */
  versionOf(headers) {
    return isFixed(this.url)
      ? 'commit'
      : (headers.get('etag') ?? headers.get('last-modified') ?? '');
  }

  /** @param {string} problem @param {unknown} [cause] */
  error(problem, cause) {
    const address = shortened(this.url.href);
    const from = this.name === address ? '' : ` from ${address}`;
    return new HeadwiseError('ERR_LOAD', `${this.name}${from}: ${problem}`, { cause });
  }

  /**
   * Asks for bytes from start on, and for the whole file where what comes is part of a compressed one.
   * @param {string | undefined} range undefined: the whole file
   * @param {AbortSignal | undefined} signal
   * @returns {Promise<Response>} with any status
   * @throws {HeadwiseError} no answer, ERR_LOAD; an abort's reason
   */
  async #ask(range, signal) {
    const response = await this.#answer(range, signal);
    if (typeof response?.headers?.get !== 'function') {
      throw this.error(`options.fetch gave ${describe(response)}; expected a Response`);
    }
    if (range !== undefined && isEncodedPart(response)) {
      discard(response);
      return this.#ask(undefined, signal);
    }
    const commit = response.headers.get('x-repo-commit') ?? '';
    this.commit ??= /^[0-9a-f]{40}$/.test(commit) ? commit : undefined;
    return response;
  }

  /** @param {string | undefined} range @param {AbortSignal | undefined} signal */
  async #answer(range, signal) {
    try {
      /** @type {Record<string, string>} */
      const headers = range === undefined ? {} : { range: `bytes=${range}` };
      return await this.fetch.call(undefined, this.url.href, { headers, signal });
    } catch (cause) {
      signal?.throwIfAborted();
      // What fetch throws says little; what a caller's own function throws may say why.
      const { message: words = describe(cause) } = /** @type {Error} */ (cause ?? {});
      const isFetchs = this.fetch === globalThis.fetch || fetchFailed.test(words);
      const why = isFetchs ? `: ${whyNot(this.url)}` : ` (${words})`;
      const { message } = this.error(`could not be read${why}; expected the file`);
      throw new PassingError('ERR_LOAD', message, { cause });
    }
  }

  /** @param {Response} response that has no file, and is not read */
  refusal(response) {
    discard(response);
    const { status } = response;
    const isHub = /(^|\.)huggingface\.co$/.test(this.url.hostname);
    const meaning = (isHub && meanings[status]) || 'expected the file';
    if (passing.includes(status)) {
      const wait = waitOf(response);
      const asked = wait > 0 ? `, and asks to wait ${Math.ceil(wait / 1000)} s` : '';
      const { message } = this.error(`${answerOf(response)}${asked}; ${meaning}`);
      return Object.assign(new PassingError('ERR_LOAD', message), { isAnswer: true, wait });
    }
    const { message } = this.error(`${answerOf(response)}; ${meaning}`);
    const Kind =
      status === 404 || status === 410
        ? AbsentError
        : status === 401 || status === 403
          ? UnclearError
          : HeadwiseError;
    return new Kind('ERR_LOAD', message);
  }

  /**
   * Asks for the file's beginning; a server may send all of it.
   * @param {AbortSignal | undefined} signal
   * @returns {Promise<Response | undefined>} the whole file; undefined: the beginning is here
   * @throws {HeadwiseError} ERR_LOAD; an abort's reason
   */
  async begin(signal) {
    const response = await this.#ask(`0-${headBytes - 1}`, signal);
    if (response.status === 416) {
      discard(response);
      return this.whole(signal);
    }
    if (!response.ok) {
      throw this.refusal(response);
    }
    if (response.status !== 206) {
      return response;
    }
    this.size = rangeOf(response).size;
    this.version = this.versionOf(response.headers);
    this.head = await arrivedOf(response, headBytes, signal);
    return undefined;
  }

  /** In older browsers a Range header makes a request of another origin need a permission that some servers refuse. */
  get mayForbidRanges() {
    return whyNot(this.url).includes('CORS');
  }

  /** Asks for all of the file. @param {AbortSignal | undefined} signal @returns {Promise<Response>} */
  async whole(signal) {
    const response = await this.#ask(undefined, signal);
    if (!response.ok) {
      throw this.refusal(response);
    }
    return response;
  }

  /**
   * Bytes from start to end. After end more may come: a server may send the whole file (RFC 9110, 14.2).
   * @param {number} start
   * @param {number} end
   * @param {AbortSignal | undefined} signal
   * @returns {Promise<PartStream | undefined>} undefined: the file has ended before
   * @throws {HeadwiseError} ERR_LOAD; an abort's reason
   */
  async part(start, end, signal) {
    const response = await this.#ask(`${start}-${end - 1}`, signal);
    if (response.status === 416) {
      discard(response);
      return undefined;
    }
    if (!response.ok) {
      throw this.refusal(response);
    }
    const isWhole = this.#isWhole(response);
    if (isWhole) {
      return streamFrom(streamOf(response), start, signal);
    }
    const range = rangeOf(response);
    const isSame =
      response.status === 206 &&
      (range.start ?? start) === start &&
      (range.size ?? this.size) === (this.size ?? range.size) &&
      this.versionOf(response.headers) === this.version;
    if (isSame) {
      return streamOf(response);
    }
    discard(response);
    if (isWhole === undefined) {
      const expected = `expected bytes ${start} to ${end - 1} of the file`;
      throw this.error(`${answerWithType(response)}; ${expected}`);
    }
    const { message } = this.error(changed);
    throw new ChangedError('ERR_LOAD', message);
  }

  /**
   * Whether an answer is the whole file; undefined: it says OK, and nothing says that it is a file. A network that wants a login
   * sends its page for any address.
   * @param {Response} response
   */
  #isWhole(response) {
    if (response.status !== 200) {
      return false;
    }
    // A page has a commit's version, as everything there does, or none: its length alone tells it from the file.
    const version = this.versionOf(response.headers);
    const isTold = !isFixed(this.url) && version !== '';
    if (version === this.version) {
      return isTold || lengthOf(response) === this.size || undefined;
    }
    return isTold && !/^text\/html\b/.test(response.headers.get('content-type') ?? '')
      ? false
      : undefined;
  }
}

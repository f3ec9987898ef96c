import { checkFunction, checkOptions, checkSignal, checkSize } from '../checks/check.js';
import { newArray } from '../tensor/shape.js';
import { Tensor } from '../tensor/tensor.js';
import { dtypes } from './convert.js';
import { checkEnd, readHeader } from './safetensors-header.js';
import { openReader } from './source.js';

/** @typedef {import('./safetensors-header.js').Entry} Entry */
/** @typedef {import('./safetensors-header.js').Reader} Reader */
/** @typedef {import('./source.js').Source} Source */
/** @typedef {import('./source.js').SourceOptions} SourceOptions */

/**
 * What a file's header says of a tensor.
 * @typedef {object} TensorInfo
 * @property {import('./convert.js').Dtype} dtype as in the file
 * @property {readonly number[]} shape as in the file
 * @property {number} byteLength in the file
 */

/**
 * @typedef {object} Piece some rows of a tensor: indices of its first axis. A tensor of rank 0 has one row
 * @property {string} name the tensor's
 * @property {import('./convert.js').Dtype} dtype the tensor's, as in the file
 * @property {readonly number[]} shape the tensor's
 * @property {number} firstRow of those that are here
 * @property {number} rows how many are here
 * @property {Float32Array} data the rows' values, which are the caller's from now on; truth values are 0 and 1
 */

/**
 * Some rows of a tensor as they are in the file.
 * @typedef {Omit<Piece, 'data'> & { bytes: Uint8Array }} BytePiece bytes: in the tensor's type, little endian. They may be memory of
 *   whoever gave the file: not to be changed
 */

/**
 * In what pieces a file is read.
 * @typedef {object} PiecesOptions
 * @property {number} [pieceBytes] most bytes of a piece's data, if a row is not larger; default 4 MiB
 * @property {(name: string) => boolean} [wants] whether a tensor is; default: every one. Others are passed over
 * @property {(progress: { loaded: number, total: number }) => void} [onProgress] bytes of the file that are done with, and
 *   all of them; called once for each piece, of unwanted tensors too
 * @property {AbortSignal} [signal] ends the reading
 */

/** @typedef {{ pieceBytes: number, wants: (name: string) => boolean, onProgress?: PiecesOptions['onProgress'], signal?: AbortSignal }} Plan */

const piecesOptions = ['pieceBytes', 'wants', 'onProgress', 'signal'];

/**
 * @param {Record<string, any>} options PiecesOptions, whose names are checked
 * @returns {Plan}
 */
function checkPlan({ pieceBytes = 2 ** 22, wants = () => true, onProgress, signal }) {
  checkSize(pieceBytes, 'pieceBytes');
  checkFunction(wants, 'wants');
  checkFunction(onProgress, 'onProgress');
  return { pieceBytes, wants, onProgress, signal: checkSignal(signal) };
}

/** @param {Entry} entry @param {number} pieceBytes of float32 */
function* rowsOf({ dtype, shape, start, end }, pieceBytes) {
  const rows = shape[0] ?? 1;
  const rowSize = rows === 0 ? 0 : (end - start) / dtypes[dtype].size / rows;
  const most = rowSize === 0 ? rows : Math.floor(pieceBytes / (4 * rowSize));
  // A tensor without elements is one piece as well, so that nobody misses it.
  for (let firstRow = 0; firstRow === 0 || firstRow < rows; firstRow += Math.max(1, most)) {
    const count = Math.min(Math.max(1, most), rows - firstRow);
    yield { firstRow, rows: count, elements: count * rowSize };
  }
}

/**
 * What a whole file holds.
 * @typedef {object} SafetensorsContents
 * @property {Record<string, import('../tensor/tensor.js').AnyTensor>} tensors by name; BOOL becomes bool, every other type float32
 * @property {Readonly<Record<string, string>>} metadata `__metadata__`; empty if the file has none
 */

/**
 * Pieces as float32.
 * @param {AsyncGenerator<BytePiece, void, void>} pieces
 * @returns {AsyncGenerator<Piece, void, void>}
 */
async function* floatsOf(pieces) {
  for await (const { bytes, ...piece } of pieces) {
    const { size, toFloats } = dtypes[piece.dtype];
    const data = newArray(Float32Array, bytes.length / size);
    toFloats(bytes, data);
    yield { ...piece, data };
  }
}

/** A .safetensors file of which the header has been read. `openSafetensors` makes it. */
export class SafetensorsFile {
  #reader;
  #entries;
  #data;

  /** @internal @param {Reader} reader @param {Awaited<ReturnType<typeof readHeader>>} header */
  constructor(reader, { entries, metadata, data }) {
    this.#reader = reader;
    this.#entries = entries;
    this.#data = data;
    /** What messages call the file. */
    this.name = reader.name;
    /** Bytes of the file, by its header. */
    this.byteLength = data + (entries.at(-1)?.end ?? 0);
    /** `__metadata__`; empty if the file has none. */
    this.metadata = metadata;
    /** By name, in the order of the file. @type {ReadonlyMap<string, Readonly<TensorInfo>>} */
    this.tensors = new Map(
      entries.map(({ name, dtype, shape, start, end }) => [
        name,
        Object.freeze({ dtype, shape, byteLength: end - start }),
      ]),
    );
  }

  /**
   * The values of all tensors, in the order of the file, as pieces of whole rows. One piece is in memory at a time, once as
   * in the file and once as float32. To end early, leave the loop. What arrives as a stream (an address, a Response) can be
   * read once; Blobs and bytes, again and at the same time.
   *
   * @param {PiecesOptions} [options]
   * @returns {AsyncGenerator<Piece, void, void>}
   * @throws {HeadwiseError} ERR_VALUE: a bad option, or a stream that was read before. While reading, ERR_FORMAT: the file is
   *   truncated or goes on; ERR_LOAD: it cannot be read; ERR_MEMORY: no memory for a row; an abort's reason
   */
  pieces(options) {
    const plan = checkPlan(checkOptions(options, piecesOptions, 'pieces'));
    return floatsOf(this.#read(this.#reader.from(this.#data, plan.signal), plan));
  }

  /**
   * The same as they are in the file, for those who convert them.
   *
   * @param {PiecesOptions} [options]
   * @returns {AsyncGenerator<BytePiece, void, void>}
   * @throws {HeadwiseError} as `pieces`
   */
  bytePieces(options) {
    const plan = checkPlan(checkOptions(options, piecesOptions, 'bytePieces'));
    return this.#read(this.#reader.from(this.#data, plan.signal), plan);
  }

  /**
   * @param {Reader} reader at the data
   * @param {Plan} plan
   * @returns {AsyncGenerator<BytePiece, void, void>}
   */
  async *#read(reader, { pieceBytes, wants, onProgress }) {
    let loaded = this.#data;
    try {
      const wanted = new Set(this.#entries.filter(({ name }) => wants(name)));
      reader.plan(Array.from(wanted, ({ start, end }) => [this.#data + start, this.#data + end]));
      for (const entry of this.#entries) {
        const { name, dtype, shape } = entry;
        const { size } = dtypes[dtype];
        const isWanted = wanted.has(entry);
        for (const { firstRow, rows, elements } of rowsOf(entry, pieceBytes)) {
          const end = loaded + elements * size;
          const bytes = isWanted ? await reader.read(elements * size) : undefined;
          loaded += bytes?.length ?? (await reader.skip(elements * size));
          if (loaded < end) {
            checkEnd(reader, this.#entries, this.#data, loaded);
          }
          onProgress?.({ loaded, total: this.byteLength });
          if (bytes !== undefined) {
            yield { name, dtype, shape, firstRow, rows, bytes };
          }
        }
      }
      loaded += (await reader.read(1)).length;
      checkEnd(reader, this.#entries, this.#data, loaded);
    } finally {
      reader.close();
    }
  }

  /** Ends the download of a file that is not to be read. */
  close() {
    this.#reader.close();
  }

  /** What it is, for consoles; Vue makes no proxy of what says so. */
  get [Symbol.toStringTag]() {
    return 'SafetensorsFile';
  }
}

/**
 * Opens a .safetensors file: reads its header and checks it against the file. The values come from `pieces`.
 *
 * @param {Source} source
 * @param {SourceOptions} [options]
 * @returns {Promise<SafetensorsFile>}
 * @throws {HeadwiseError} ERR_FORMAT: the file breaks the format's rules; ERR_LOAD: it is not to be had, or a server sent a
 *   page instead; ERR_VALUE: a bad argument. An abort rejects with the signal's reason.
 */
export async function openSafetensors(source, options) {
  const checked = checkOptions(options, ['name', 'signal'], 'openSafetensors');
  return readSafetensorsHeader(await openReader(source, checked));
}

/** @param {Reader} reader at the file's start, which is closed after an error */
export async function readSafetensorsHeader(reader) {
  try {
    return new SafetensorsFile(reader, await readHeader(reader));
  } catch (error) {
    reader.close();
    throw error;
  }
}

/**
 * Reads a whole .safetensors file: for small ones; `openSafetensors` reads large ones in pieces.
 *
 * @param {Source} source
 * @param {SourceOptions & PiecesOptions} [options]
 * @returns {Promise<SafetensorsContents>}
 * @throws {HeadwiseError} as `openSafetensors` and `pieces`
 */
export async function readSafetensors(source, options) {
  const known = ['name', ...piecesOptions];
  const { name, signal, ...rest } = checkOptions(options, known, 'readSafetensors');
  // Before the source is opened: a stream that is not read stays the caller's.
  const plan = checkPlan(rest);
  const file = await openSafetensors(source, { name, signal });
  /** @type {Map<string, Float32Array>} */
  const values = new Map();
  for await (const piece of file.pieces(plan)) {
    const rowSize = piece.rows === 0 ? 0 : piece.data.length / piece.rows;
    if (piece.firstRow === 0) {
      const isAll = piece.rows === (piece.shape[0] ?? 1);
      values.set(piece.name, isAll ? piece.data : newArray(Float32Array, piece.shape[0] * rowSize));
    }
    values.get(piece.name)?.set(piece.data, piece.firstRow * rowSize);
  }
  const tensors = Array.from(values, ([tensorName, data]) => {
    const { dtype, shape } = /** @type {TensorInfo} */ (file.tensors.get(tensorName));
    /** @type {import('../tensor/tensor.js').AnyTensor} */
    const tensor =
      dtype === 'BOOL' ? new Tensor(Uint8Array.from(data), shape) : new Tensor(data, shape);
    return [tensorName, tensor];
  });
  return { tensors: Object.fromEntries(tensors), metadata: file.metadata };
}

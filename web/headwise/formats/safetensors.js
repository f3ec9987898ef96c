import {
  checkBoolean,
  checkFunction,
  checkOptions,
  checkSignal,
  checkSize,
} from '../checks/check.js';
import { describe } from '../checks/describe.js';
import { newArray } from '../tensor/shape.js';
import { dtypes, tensorRead } from './convert.js';
import { checkEnd, named, readHeader } from './safetensors-header.js';
import { openReader } from './source.js';

/** @typedef {import('./safetensors-header.js').Entry} Entry */
/** @typedef {import('./safetensors-header.js').Reader} Reader */
/** @typedef {import('./source.js').Source} Source */
/** @typedef {import('./source.js').SourceOptions} SourceOptions */

/**
 * A tensor's entry in the header of a file.
 * @typedef {object} TensorInfo
 * @property {import('./convert.js').Dtype} dtype as in the file
 * @property {readonly number[]} shape as in the file
 * @property {number} byteLength in the file
 */

/**
 * Some rows of a tensor. Rows are indices of the first axis. A tensor of rank 0 has one row.
 * @typedef {object} Piece
 * @property {string} name the tensor's
 * @property {import('./convert.js').Dtype} dtype the tensor's, as in the file
 * @property {readonly number[]} shape the tensor's
 * @property {number} firstRow the first row of this piece
 * @property {number} rows the number of rows in this piece
 * @property {Float32Array} data the values of the rows, owned by the caller from now on; truth values are 0 and 1
 */

/**
 * Some rows of a tensor, as bytes of the file.
 * @typedef {Omit<Piece, 'data'> & { bytes: Uint8Array }} BytePiece
 * @property bytes in the tensor's type, little endian. They may be memory of the source: do not change them
 */

/**
 * Options for reading a file in pieces.
 * @typedef {object} PiecesOptions
 * @property {number} [pieceBytes] the largest size of a piece's data in bytes, unless one row is larger; default 4 MiB
 * @property {(name: string) => boolean} [wants] whether to read a tensor; default: every tensor. Others are skipped,
 *   which tensors of an F8 type and of C64 must be: such values are not converted
 * @property {(progress: { loaded: number, total: number }) => void} [onProgress] gets the processed bytes and all bytes of the
 *   file; called once for each piece, also for skipped tensors. What it throws, or its promise rejects with, ends the reading
 * @property {AbortSignal} [signal] aborts the reading
 */

/** @typedef {{ pieceBytes: number, wants: (name: string) => boolean, onProgress?: PiecesOptions['onProgress'], signal?: AbortSignal }} Plan */

const piecesOptions = ['pieceBytes', 'wants', 'onProgress', 'signal'];

/**
 * @param {Record<string, any>} options PiecesOptions with checked names
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
  // A tensor without elements is one piece too, so that every tensor appears.
  for (let firstRow = 0; firstRow === 0 || firstRow < rows; firstRow += Math.max(1, most)) {
    const count = Math.min(Math.max(1, most), rows - firstRow);
    yield { firstRow, rows: count, elements: count * rowSize };
  }
}

/**
 * The contents of a whole file.
 * @typedef {object} SafetensorsContents
 * @property {Record<string, import('../tensor/tensor.js').Tensor | import('../tensor/tensor.js').Tensor<'bool'>>} tensors by name; BOOL becomes bool, every other type float32
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

/** A .safetensors file with its header read. `openSafetensors` makes it. */
export class SafetensorsFile {
  #reader;
  #entries;
  #data;

  /** @internal @param {Reader} reader @param {Awaited<ReturnType<typeof readHeader>>} header */
  constructor(reader, { entries, metadata, data }) {
    this.#reader = reader;
    this.#entries = entries;
    this.#data = data;
    /** The name of the file in messages. @readonly */
    this.name = reader.name;
    /** The size of the file in bytes, computed from its header. @readonly */
    this.byteLength = data + (entries.at(-1)?.end ?? 0);
    /** `__metadata__`; empty if the file has none. @readonly */
    this.metadata = metadata;
    /** The tensors by name, in the order of the file. @readonly @type {ReadonlyMap<string, Readonly<TensorInfo>>} */
    this.tensors = new Map(
      entries.map(({ name, dtype, shape, start, end }) => [
        name,
        Object.freeze({ dtype, shape, byteLength: end - start }),
      ]),
    );
  }

  /**
   * Reads the values of all tensors, in the order of the file, as pieces of whole rows. One piece is in memory at a time, once
   * as in the file and once as float32. To stop early, leave the loop. A stream (an address, a Response) can be read once.
   * Blobs and bytes can be read several times, also at the same time.
   *
   * @param {PiecesOptions} [options]
   * @returns {AsyncGenerator<Piece, void, void>}
   * @throws {HeadwiseError} ERR_VALUE: a bad option, or a stream that was read before. While reading, ERR_FORMAT: the file is
   *   truncated or too long, or a wanted tensor is of an F8 type or of C64; ERR_LOAD: it cannot be read; ERR_MEMORY: no memory for a row;
   *   an abort's reason
   */
  pieces(options) {
    const plan = checkPlan(checkOptions(options, piecesOptions, 'pieces'));
    return floatsOf(this.#read(this.#reader.from(this.#data, plan.signal), plan, true));
  }

  /**
   * Reads the same pieces as bytes of the file, without conversion, of any type.
   *
   * @param {PiecesOptions} [options]
   * @returns {AsyncGenerator<BytePiece, void, void>}
   * @throws {HeadwiseError} as in `pieces`
   */
  bytePieces(options) {
    const plan = checkPlan(checkOptions(options, piecesOptions, 'bytePieces'));
    return this.#read(this.#reader.from(this.#data, plan.signal), plan);
  }

  /**
   * @param {Reader} reader at the data
   * @param {Plan} plan
   * @param {boolean} [areConverted] then all must be of types that can be
   * @returns {AsyncGenerator<BytePiece, void, void>}
   */
  async *#read(reader, { pieceBytes, wants, onProgress }, areConverted) {
    let loaded = this.#data;
    try {
      // A promise is true, whatever it promises.
      const isWanted = (/** @type {string} */ name) =>
        checkBoolean(wants(name), `wants(${describe(name)})`);
      const wanted = new Set(this.#entries.filter(({ name }) => isWanted(name)));
      const odd = [...wanted].find(({ dtype }) => dtypes[dtype].toFloats === undefined);
      if (areConverted && odd !== undefined) {
        const problem = `dtype is ${odd.dtype}, which is not converted to float32`;
        throw reader.formatError(
          `${named(odd.name)}: ${problem}; expected the option wants to skip it`,
        );
      }
      reader.plan(Array.from(wanted, ({ start, end }) => [this.#data + start, this.#data + end]));
      for (const entry of this.#entries) {
        const { name, dtype, shape } = entry;
        const { size } = dtypes[dtype];
        for (const { firstRow, rows, elements } of rowsOf(entry, pieceBytes)) {
          const end = loaded + elements * size;
          const bytes = wanted.has(entry) ? await reader.read(elements * size) : undefined;
          loaded += bytes?.length ?? (await reader.skip(elements * size));
          if (loaded < end) {
            checkEnd(reader, this.#entries, this.#data, loaded);
          }
          await onProgress?.({ loaded, total: this.byteLength });
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

  /** Closes the source and ends its download, if the file will not be read. */
  close() {
    this.#reader.close();
  }

  /** The class name, for consoles. Vue makes no proxy of an object that has a tag. */
  get [Symbol.toStringTag]() {
    return 'SafetensorsFile';
  }
}

/**
 * Opens a .safetensors file: reads its header and checks it against the file. The values come from `pieces`.
 *
 * @param {Source} source the file, or its address
 * @param {SourceOptions} [options]
 * @returns {Promise<SafetensorsFile>}
 * @throws {HeadwiseError} ERR_FORMAT: the file breaks the format's rules; ERR_LOAD: it cannot be loaded, or a server sent a
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
 * Reads a whole small .safetensors file. For large files, use `openSafetensors`, which reads in pieces.
 *
 * @param {Source} source the file, or its address
 * @param {SourceOptions & PiecesOptions} [options]
 * @returns {Promise<SafetensorsContents>}
 * @throws {HeadwiseError} as in `openSafetensors` and `pieces`
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
    return [tensorName, tensorRead(dtype, data, shape)];
  });
  return { tensors: Object.fromEntries(tensors), metadata: file.metadata };
}

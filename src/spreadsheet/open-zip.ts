/**
 * Reads the parts of a zip by its directory. A stranger may have made it: sizes that it states are not believed, the limits
 * hold for the bytes that are unpacked. Zips of more than 4 GiB and encrypted ones are refused.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';
import { message } from '../texts/messages.ts';
import { UnreadableFileError } from './row.ts';

/** `read` returns the bytes from a position on, fewer at the end. */
export type ByteSource = { bytes: number; read(position: number, length: number): Promise<Buffer> };

/** The parts of a zip, by their names as `keyOf` compares them. */
export type Zip = {
  /** As the zip states them, in the order of its directory. */
  names: readonly string[];
  has(name: string): boolean;
  /** The bytes of a part, unpacked. @throws UnreadableFileError for a damaged part, or beyond the limits. */
  open(name: string): AsyncGenerator<Buffer, void, undefined>;
};

/** `unpackedBytesMax`: of all parts that are opened, together. */
export type ZipLimits = { partsMax: number; unpackedBytesMax: number };

type Part = { name: string; method: number; crc: number; packedBytes: number; unpackedBytes: number; at: number };

const END = { signature: 0x0605_4b50, bytes: 22, commentBytesMax: 0xffff };
const ENTRY = { signature: 0x0201_4b50, bytes: 46 };
const LOCAL = { signature: 0x0403_4b50, bytes: 30 };
const FLAG_ENCRYPTED = 1;
const METHODS = { store: 0, deflate: 8 };
const CHUNK_BYTES = 64 * 1024;
const DIRECTORY_BYTES_MAX = 4 * 1024 * 1024;

/** @throws UnreadableFileError for anything but a zip within the limits. */
export async function openZip(source: ByteSource, limits: ZipLimits): Promise<Zip> {
  const parts = await readDirectory(source, limits);
  const left = { bytes: limits.unpackedBytesMax };
  return {
    names: [...parts.values()].map(({ name }) => name),
    has: (name) => parts.has(keyOf(name)),
    async *open(name) {
      const part = parts.get(keyOf(name));
      if (!part) throw new UnreadableFileError(`the part ${name} is missing`);
      yield* unpack(source, part, left);
    },
  };
}

async function readDirectory(source: ByteSource, { partsMax }: ZipLimits): Promise<Map<string, Part>> {
  const end = await findEnd(source);
  const count = end.readUInt16LE(10);
  const bytes = end.readUInt32LE(12);
  const at = end.readUInt32LE(16);
  if (count > partsMax || bytes > DIRECTORY_BYTES_MAX)
    throw new UnreadableFileError(`it has more than ${partsMax} parts`);
  const directory = await source.read(at, bytes);
  const parts = new Map<string, Part>();
  let position = 0;
  for (let index = 0; index < count; index++) {
    if (position + ENTRY.bytes > directory.length || directory.readUInt32LE(position) !== ENTRY.signature)
      throw new UnreadableFileError('the directory of the zip is damaged');
    const entry = directory.subarray(position);
    const nameBytes = entry.readUInt16LE(28);
    const name = entry.toString('utf8', ENTRY.bytes, ENTRY.bytes + nameBytes);
    const key = keyOf(name);
    if ((entry.readUInt16LE(8) & FLAG_ENCRYPTED) !== 0) throw new UnreadableFileError(message('file.encrypted'));
    // a second part of that name: readers differ in which one counts
    if (parts.has(key)) throw new UnreadableFileError('two parts have one name');
    parts.set(key, {
      name,
      method: entry.readUInt16LE(10),
      crc: entry.readUInt32LE(16),
      packedBytes: entry.readUInt32LE(20),
      unpackedBytes: entry.readUInt32LE(24),
      at: entry.readUInt32LE(42),
    });
    position += ENTRY.bytes + nameBytes + entry.readUInt16LE(30) + entry.readUInt16LE(32);
  }
  return parts;
}

/** A name without case, `/` at its start and `%20`: some programs write `SharedStrings.xml`, and `\` for `/`. */
function keyOf(name: string): string {
  const path = name
    .replaceAll('\\', '/')
    .replace(/^\/{1,9}/, '')
    .toLowerCase();
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The record at the end, which a comment may follow. */
async function findEnd(source: ByteSource): Promise<Buffer> {
  const length = Math.min(source.bytes, END.bytes + END.commentBytesMax);
  const tail = await source.read(source.bytes - length, length);
  for (let at = tail.length - END.bytes; at >= 0; at--) {
    if (tail.readUInt32LE(at) === END.signature) return tail.subarray(at);
  }
  throw new UnreadableFileError(message('file.no_zip'));
}

async function* unpack(
  source: ByteSource,
  part: Part,
  left: { bytes: number },
): AsyncGenerator<Buffer, void, undefined> {
  const { name, method, packedBytes } = part;
  const local = await source.read(part.at, LOCAL.bytes);
  if (local.length < LOCAL.bytes || local.readUInt32LE(0) !== LOCAL.signature)
    throw new UnreadableFileError(`the part ${name} is damaged`);
  const start = part.at + LOCAL.bytes + local.readUInt16LE(26) + local.readUInt16LE(28);
  const packed = readRange(source, start, packedBytes);
  if (method !== METHODS.store && method !== METHODS.deflate)
    throw new UnreadableFileError(`the part ${name} is packed in an unknown way`);
  let crc = 0;
  let bytes = 0;
  try {
    for await (const chunk of method === METHODS.store ? packed : inflate(packed)) {
      bytes += chunk.length;
      left.bytes -= chunk.length;
      if (left.bytes < 0) throw new UnreadableFileError('it unpacks to more than the limit');
      crc = crc32(chunk, crc);
      yield chunk;
    }
  } catch (error) {
    if (error instanceof UnreadableFileError || !isZlibError(error)) throw error;
    throw new UnreadableFileError(`the part ${name} is damaged`, { cause: error });
  }
  if (crc !== part.crc || bytes !== part.unpackedBytes)
    throw new UnreadableFileError(`the part ${name} does not have the checksum that the zip states`);
}

async function* inflate(packed: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  const inflater = createInflateRaw({ chunkSize: CHUNK_BYTES });
  const input = Readable.from(packed, { objectMode: false });
  input.once('error', (error) => inflater.destroy(error));
  try {
    yield* input.pipe(inflater);
  } finally {
    input.destroy();
    inflater.destroy();
  }
}

function isZlibError(error: unknown): boolean {
  return String((error as { code?: unknown } | undefined)?.code).startsWith('Z_');
}

async function* readRange(source: ByteSource, start: number, length: number): AsyncGenerator<Buffer, void, undefined> {
  for (let done = 0; done < length; ) {
    const chunk = await source.read(start + done, Math.min(CHUNK_BYTES, length - done));
    if (chunk.length === 0) throw new UnreadableFileError('it was cut off');
    done += chunk.length;
    yield chunk;
  }
}

export function sourceOfBytes(bytes: Buffer): ByteSource {
  return { bytes: bytes.length, read: async (position, length) => bytes.subarray(position, position + length) };
}

/** Opens a file as a source; the caller closes it with `await using`. */
export async function openFileSource(file: string): Promise<ByteSource & AsyncDisposable> {
  const handle: FileHandle = await open(file, 'r');
  return {
    bytes: (await handle.stat()).size,
    async read(position, length) {
      const buffer = Buffer.allocUnsafeSlow(length);
      const { bytesRead } = await handle.read(buffer, 0, length, position);
      return buffer.subarray(0, bytesRead);
    },
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

/** The files of a backup: compressed, encrypted and hashed while they are written, and read back the same way. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { Decrypter, Encrypter } from 'age-encryption';
import { wrongUse } from '../domain/errors.ts';
import { refuseOtherSum, type StoredFile, type Sums } from './sums.ts';

/** The fastest level: the dump competes with the service for the processor. */
const GZIP_LEVEL = 1;
const ENCRYPTED = '.age';

/** Writes a file into the backup. @returns the name under which it is stored. */
export type StoreFile = (name: string, source: Readable, options?: { compress: boolean }) => Promise<string>;

/** Writes files below a directory and counts them. @param recipients of age; none: the files are not encrypted. */
export function createStore(directory: string, recipients: string[]): { store: StoreFile; files: StoredFile[] } {
  const encrypter = recipients.length > 0 ? createEncrypter(recipients) : undefined;
  const files: StoredFile[] = [];
  const store: StoreFile = async (plainName, source, { compress } = { compress: false }) => {
    const name = encrypter ? `${plainName}${ENCRYPTED}` : plainName;
    const file = path.join(directory, name);
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    const hash = createHash('sha256');
    let bytes = 0;
    const out = createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true });
    async function* measure(chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        hash.update(chunk);
        bytes += chunk.length;
        yield chunk;
      }
    }
    const writing = pipeline(
      source,
      compress ? createGzip({ level: GZIP_LEVEL }) : new PassThrough(),
      encrypter ? encryptWith(encrypter) : new PassThrough(),
      measure,
      out,
    );
    // the system does not name the file that it could not write to
    await writing.catch((error: NodeJS.ErrnoException) => {
      throw error.syscall === 'write' ? Object.assign(error, { path: file }) : error;
    });
    files.push({ name, bytes, sha256: hash.digest('hex') });
    return name;
  };
  return { store, files };
}

type Check = (chunks: AsyncIterable<Buffer>) => AsyncIterable<Buffer>;

/** Reads the files of a backup. */
export type ReadFile = {
  /**
   * Copies a file into a stream, decrypted and, if it was compressed, decompressed. Ends the stream.
   * @param options.check passes on what it is given, or throws.
   */
  copy(name: string, into: NodeJS.WritableStream, options?: { compressed: boolean; check?: Check }): Promise<void>;
  /** Reads the beginning of a file. @returns its bytes as they are stored. @throws if it is not there or cannot be decrypted. */
  check(name: string): Promise<number>;
  /** Reads a small file. */
  read(name: string): Promise<Buffer>;
};

/**
 * @param identity the text of an identity file of age; undefined for a backup that is not encrypted.
 * @param sums as `verifySums` returned them: a file that changed since fails at its end.
 */
export function createReader(directory: string, identity: string | undefined, sums: Sums): ReadFile {
  const decrypter = identity === undefined ? undefined : createDecrypter(identity);
  const nameStored = (name: string): string => (decrypter ? `${name}${ENCRYPTED}` : name);
  const findFile = (name: string): string => path.join(directory, nameStored(name));
  async function* readHashed(name: string) {
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(findFile(name)) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      yield chunk;
    }
    refuseOtherSum(nameStored(name), hash.digest('hex'), sums);
  }
  const open = (name: string): Readable => {
    const source = readHashed(name);
    return Readable.from(decrypter ? decryptWith(decrypter)(source) : source);
  };
  return {
    async copy(name, into, { compressed, check = passOn } = { compressed: false }) {
      await pipeline(open(name), compressed ? createGunzip() : new PassThrough(), check, into);
    },
    async check(name) {
      // leaving the loop closes the file
      for await (const _ of open(name)) break;
      return (await stat(findFile(name))).size;
    },
    read: (name) => buffer(open(name)),
  };
}

async function* passOn(chunks: AsyncIterable<Buffer>) {
  yield* chunks;
}

function createEncrypter(recipients: string[]): Encrypter {
  const encrypter = new Encrypter();
  for (const recipient of recipients) {
    try {
      encrypter.addRecipient(recipient);
    } catch {
      throw wrongUse('--recipient must be a public key of age: age1…');
    }
  }
  return encrypter;
}

function createDecrypter(identity: string): Decrypter {
  const decrypter = new Decrypter();
  const keys = identity
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  try {
    for (const key of keys) decrypter.addIdentity(key);
  } catch {
    throw wrongUse('--identity must name a file with a key of age-keygen: AGE-SECRET-KEY-1…');
  }
  if (keys.length === 0) throw wrongUse('the file of --identity holds no key');
  return decrypter;
}

function encryptWith(encrypter: Encrypter) {
  return async function* encrypt(chunks: AsyncIterable<Buffer>) {
    yield* toBuffers(await encrypter.encrypt(toWeb(chunks)));
  };
}

function decryptWith(decrypter: Decrypter) {
  return async function* decrypt(chunks: AsyncIterable<Buffer>) {
    try {
      yield* toBuffers(await decrypter.decrypt(toWeb(chunks)));
    } catch (error) {
      throw wrongUse('a file could not be decrypted: is it the identity of a --recipient?', {
        cause: error,
      });
    }
  };
}

function toWeb(chunks: AsyncIterable<Buffer>): ReadableStream<Uint8Array> {
  return ReadableStream.from(chunks) as ReadableStream<Uint8Array>;
}

async function* toBuffers(stream: ReadableStream<Uint8Array>) {
  for await (const chunk of stream) yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}

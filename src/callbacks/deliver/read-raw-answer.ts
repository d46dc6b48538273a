/**
 * The start of answers that are no HTTP: a bare line feed, a Content-Length beside a Transfer-Encoding. undici rejects the
 * request and does not give what came. The merchant's server has answered though: its status line counts where it can be read.
 */
import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';

/** Characters kept of an answer. */
const START_CHARS = 512;
/** The status of an answer, in a line of its own after any `HTTP/1.x`. A 1xx is no answer. */
const STATUS_LINE = /^HTTP\/1\.[01] ([2-5][0-9][0-9])[ \r\n]/;
const BAD_ANSWER_CODES = new Set(['UND_ERR_RES_CONTENT_LENGTH_MISMATCH']);

const starts = new WeakMap<object, string>();

/** Returns a connector that keeps the start of each answer with the error that closes its connection. */
export function keepAnswers(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...result) => {
      if (result[1]) keepStart(result[1]);
      callback(...result);
    });
}

function keepStart(socket: Socket): void {
  const read = socket.read.bind(socket);
  let start = '';
  let written = -1;
  // undici reads a socket by `read` alone
  socket.read = (size?: number): unknown => {
    const chunk: unknown = size === undefined ? read() : read(size);
    // a connection is used again: the next request begins the next answer
    if (written !== socket.bytesWritten) [start, written] = ['', socket.bytesWritten];
    if (Buffer.isBuffer(chunk) && start.length < START_CHARS)
      start += chunk.toString('latin1', 0, START_CHARS - start.length);
    return chunk;
  };
  socket.once('error', (error) => starts.set(error, start));
}

/** The error of a request whose answer is no HTTP. `status`: of its status line; null if it has none, or none that is final. */
export type RawAnswer = { status: number | null; body: Buffer };

/** @returns undefined for an error of another kind. `body`: why it is no HTTP, and how it begins. */
export function readRawAnswer(error: unknown): RawAnswer | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as { code?: unknown };
  if (error.name !== 'HTTPParserError' && !BAD_ANSWER_CODES.has(String(code))) return undefined;
  const start = starts.get(error) ?? '';
  const [, status] = STATUS_LINE.exec(start) ?? [];
  return { status: status === undefined ? null : Number(status), body: Buffer.from(`${error.message}:\n${start}`) };
}

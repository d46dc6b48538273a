import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';

/** Sends a file with these headers. An error before its first byte is answered without them: it is no attachment. */
export async function sendFile(response: Response, file: string, headers: Record<string, string>): Promise<void> {
  // dotfiles: DATA_DIR may be under a directory whose name begins with a dot
  const options = { dotfiles: 'allow', cacheControl: false, lastModified: false, headers } as const;
  await new Promise<void>((resolve, reject) => {
    response.sendFile(path.resolve(file), options, (error) => (error ? reject(error) : resolve()));
  });
}

/** Aborts when the client leaves. */
export function signalOf(response: Response): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  return gone.signal;
}

/** Sends text while it is made. The headers wait for the first chunk: an error page must not be an attachment. */
export async function sendChunks(
  response: Response,
  chunks: AsyncGenerator<string, void, undefined>,
  headers: Record<string, string>,
): Promise<void> {
  const first = await chunks.next();
  response.set(headers);
  if (!first.done) response.write(first.value);
  await pipeline(chunks, response);
}

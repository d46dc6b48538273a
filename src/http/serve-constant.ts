import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Request, Response } from 'express';

type Content = string | Buffer;
type Constant = { bytes: Buffer; gzipped: Buffer; version: string };

const compress = promisify(gzip);

/**
 * Returns a handler that sends a document which does not change while the process runs, with an ETag, compressed for clients
 * that take gzip, and 304 to those that have it. It is made, encoded, compressed and hashed at the first request, not at each.
 */
export function serveConstant(type: string, make: () => Content | Promise<Content>) {
  let constant: Promise<Constant> | undefined;
  return async (request: Request, response: Response): Promise<void> => {
    constant ??= prepare(make).catch((error: unknown) => {
      constant = undefined;
      throw error;
    });
    const { bytes, gzipped, version } = await constant;
    const isGzipped = listTokens(request, 'accept-encoding').includes('gzip');
    const etag = isGzipped ? `"${version}-gzip"` : `"${version}"`;
    response.setHeader('etag', etag);
    response.vary('Accept-Encoding');
    if (listTokens(request, 'if-none-match').includes(etag)) {
      response.status(304).end();
      return;
    }
    if (isGzipped) response.setHeader('content-encoding', 'gzip');
    response.type(type).send(isGzipped ? gzipped : bytes);
  };
}

/** Returns a short name of a content: another content has another one. */
export function nameVersion(content: Content): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 12);
}

async function prepare(make: () => Content | Promise<Content>): Promise<Constant> {
  const bytes = Buffer.from(await make());
  return { bytes, gzipped: await compress(bytes), version: nameVersion(bytes) };
}

/** The parts of a header that is a list: encodings as browsers name them, without weights, and tags. */
function listTokens({ headers }: Request, name: 'accept-encoding' | 'if-none-match'): string[] {
  const tokens = String(headers[name] ?? '').split(',');
  return tokens.map((token) => token.trim().replace(/^W\//, ''));
}

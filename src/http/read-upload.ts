import { MIMEType } from 'node:util';
import express, { type Request, type Response } from 'express';
import { ConfereError } from '../domain/errors.ts';
import { IMPORT_BYTES_MAX } from '../imports/import-kinds.ts';
import { faultOf, refuse, refuseFields } from '../texts/refuse.ts';

/** Bytes of the fields beside the file, and of the boundaries. */
const FIELDS_BYTES_MAX = 64 * 1024;
/** The parser takes a form in one go. */
const PARTS_MAX = 100;
const MIB = 1024 * 1024;
const MULTIPART = 'multipart/form-data';

/** The address of the form for files that people import. Its preview sends the file again, as base64. */
export const IMPORT_ADDRESS = '/balances/imports';
const read = express.raw({
  type: MULTIPART,
  limit: Math.ceil((IMPORT_BYTES_MAX * 4) / 3) + FIELDS_BYTES_MAX,
  inflate: false,
});

/**
 * Reads a form that was sent with a file into `request.body`: the file as base64. Other forms are left as they are. It is
 * called for callers with a session alone.
 * @throws ConfereError `invalid_request` for a form that is too large or cannot be read.
 */
export async function readUpload(request: Request, response: Response): Promise<void> {
  if (!request.is(MULTIPART)) return;
  await new Promise<void>((resolve, reject) => {
    read(request, response, (error?: unknown) => (error === undefined ? resolve() : reject(explain(error))));
  });
  const type = request.headers['content-type'] ?? '';
  const body = request.body as Buffer<ArrayBuffer>;
  const fields = Object.create(null) as Record<string, string>;
  try {
    const boundary = new MIMEType(type).params.get('boundary');
    if (hasMoreParts(body, `--${boundary}`, PARTS_MAX)) throw refuse('form_parts_many', { n: PARTS_MAX });
    const form = await new globalThis.Response(body, { headers: { 'content-type': type } }).formData();
    for (const [name, value] of form) {
      fields[name] = typeof value === 'string' ? value : Buffer.from(await value.arrayBuffer()).toString('base64');
    }
  } catch (error) {
    throw error instanceof ConfereError ? error : refuse('form_unreadable', {}, { cause: error });
  }
  request.body = fields;
}

/** Whether a mark begins more parts than `max`; the last one ends the form. */
function hasMoreParts(body: Buffer, mark: string, max: number): boolean {
  let parts = -1;
  for (let at = body.indexOf(mark); at >= 0 && parts <= max; at = body.indexOf(mark, at + mark.length)) parts++;
  return parts > max;
}

function explain(error: unknown): unknown {
  if ((error as { type?: string }).type !== 'entity.too.large') return error;
  return refuseFields([faultOf('file', 'file_too_large', { n: IMPORT_BYTES_MAX / MIB })], { cause: error });
}

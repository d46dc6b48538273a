/** Variables of the merchants' portal. */
import { z } from 'zod';
import { fault } from './fields.ts';

const NAME_CHARS_MAX = 60;
const LOGO_BYTES_MAX = 64 * 1024;

export type Picture = { type: string; bytes: Buffer };

/** How files of each type begin. No SVG: it may hold a script. */
const PICTURES: Record<string, (bytes: Buffer) => boolean> = {
  'image/png': (bytes) => bytes.subarray(0, 8).equals(Buffer.from('89504e470d0a1a0a', 'hex')),
  'image/jpeg': (bytes) => bytes.subarray(0, 3).equals(Buffer.from('ffd8ff', 'hex')),
  'image/webp': (bytes) => bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP',
};

/** `data:image/png;base64,…` → a picture. */
const dataUrl = z.string().transform((text, context): Picture => {
  const [, type = '', base64 = ''] = /^data:([a-z/]+);base64,([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  if (!PICTURES[type]?.(bytes)) {
    return fault(context, 'must be a data URL of a PNG, JPEG or WebP picture: data:image/png;base64,…');
  }
  return bytes.length <= LOGO_BYTES_MAX
    ? { type, bytes }
    : fault(context, `must be at most ${LOGO_BYTES_MAX / 1024} KiB, before base64`);
});

export const portalFields = {
  PORTAL_NAME: z.string().trim().min(1).max(NAME_CHARS_MAX).default('Confere'),
  PORTAL_LOGO: dataUrl.optional(),
};

import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../config.ts';
import { ConfereError } from '../domain/errors.ts';

const LOGO_BYTES_MAX = 64 * 1024;
/** As many as a type is known by. */
const BEGIN_BYTES = 12;

export type Logo = { type: string; bytes: Buffer };

/** The names that a logo may have, and how a file of each begins. No SVG: it may hold a script. */
const PICTURES: { name: string; type: string; begins: RegExp }[] = [
  { name: 'portal-logo.png', type: 'image/png', begins: /^\x89PNG\r\n/ },
  { name: 'portal-logo.jpg', type: 'image/jpeg', begins: /^\xff\xd8\xff/ },
  { name: 'portal-logo.webp', type: 'image/webp', begins: /^RIFF.{4}WEBP/s },
];

/**
 * Reads the portal's logo: `portal-logo.png`, `.jpg` or `.webp` in DATA_DIR; undefined where there is none.
 * @throws ConfereError `config_invalid` for a file that is no such picture, or larger than 64 KiB.
 */
export function readLogo({ DATA_DIR }: Pick<Config, 'DATA_DIR'>): Logo | undefined {
  for (const { name, type, begins } of PICTURES) {
    const file = path.join(DATA_DIR, name);
    const bytes = readIfThere(file);
    if (!bytes) continue;
    if (bytes.length > LOGO_BYTES_MAX)
      throw new ConfereError('config_invalid', `${file}: the logo may have at most ${LOGO_BYTES_MAX / 1024} KiB`);
    if (!begins.test(bytes.toString('latin1', 0, BEGIN_BYTES)))
      throw new ConfereError('config_invalid', `${file}: is no picture of the type ${type}`);
    return { type, bytes };
  }
  return undefined;
}

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new ConfereError('config_invalid', `${file}: cannot be read`, { cause: error });
  }
}

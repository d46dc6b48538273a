import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Context } from '../context.ts';
import { readOrCreateSetting, readSetting } from '../database/keys/settings.ts';
import { ADMIN_SETTING, hashToken } from './tokens.ts';

const NAME = 'admin-token';
/** Age of an abandoned draft: a start takes far less. */
const DRAFT_MS_MAX = 60_000;
const DRAFT = /^admin-token\.[0-9a-z]+$/;

/**
 * Generates an admin token on the first start without ADMIN_TOKEN, into DATA_DIR/admin-token with mode 0600. It is not
 * printed, because log collectors store what a process prints.
 * @returns the file's path on that start; undefined if there is a token already.
 */
export async function createAdminToken(context: Context): Promise<string | undefined> {
  const { config, db } = context;
  if (config.ADMIN_TOKEN) return undefined;
  const directory = path.resolve(config.DATA_DIR);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const known = await readSetting(db, ADMIN_SETTING);
  if (known !== undefined) return await adoptDraft(directory, known);
  const token = `cfa_${randomBytes(32).toString('base64url')}`;
  const draft = path.join(directory, `${NAME}.${randomBytes(8).toString('hex')}`);
  await writeSecret(draft, `${token}\n`);
  // another replica may have been faster: then its file holds the valid token
  return await adoptDraft(directory, await readOrCreateSetting(db, ADMIN_SETTING, () => hashToken(token)));
}

/** Renames the draft of the valid token, also one of a killed start, and removes old other drafts. */
async function adoptDraft(directory: string, hash: Buffer): Promise<string | undefined> {
  let adopted: string | undefined;
  for (const name of await readdir(directory)) {
    if (!DRAFT.test(name)) continue;
    const [draft, file] = [path.join(directory, name), path.join(directory, NAME)];
    const token = await readDraft(draft);
    if (token === undefined) continue;
    if (hashToken(token).equals(hash)) {
      await rename(draft, file);
      adopted = file;
    } else if (await isOld(draft)) await rm(draft, { force: true });
  }
  return adopted;
}

/** @returns undefined if another replica on the same volume has adopted the draft meanwhile. */
async function readDraft(draft: string): Promise<string | undefined> {
  try {
    return (await readFile(draft, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** A younger draft may belong to a replica that is storing its token now. */
async function isOld(draft: string): Promise<boolean> {
  const facts = await stat(draft).catch(() => undefined);
  return facts !== undefined && Date.now() - facts.mtimeMs > DRAFT_MS_MAX;
}

/** Creates the file with mode 0600 from the first byte on. */
async function writeSecret(file: string, text: string): Promise<void> {
  await rm(file, { force: true });
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

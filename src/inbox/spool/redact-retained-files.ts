/**
 * Files that stay in the spool's directory, and that nobody drains: what the database refused (`.refused`), and damaged
 * segments (`.torn`). They hold webhooks as they came.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../config.ts';
import type { Context } from '../../context.ts';
import { decodeText } from '../../domain/person/decode-text.ts';
import type { Erase } from '../../domain/person/person.ts';
import { describeError } from '../../log.ts';
import { hasForgottenPeople, redactForgotten } from '../../privacy/redact-forgotten.ts';
import { encodeRecord, splitSegment } from './spool-format.ts';

const KEPT = /\.(?:refused|torn)$/;
const SEGMENT = /\.spool$/;

/** Takes a person out of each; a damaged stretch is gone through as a text. */
export function eraseFromRetainedFiles(context: Context): Erase {
  return async ({ redact, onSkipped: missed }, { write }) => {
    const directory = spoolDirectory(context.config);
    let changed = 0;
    for (const name of listFiles(directory, KEPT)) {
      context.signal.throwIfAborted();
      const file = path.join(directory, name);
      try {
        const redacted = await redactFile(file, (texts) => Promise.resolve(texts.map((text) => redact(text))));
        if (!redacted) continue;
        changed++;
        if (write) await replace(file, redacted);
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        missed(name);
      }
    }
    return changed;
  };
}

/** How many segments wait to be drained. */
export function countSegments(config: Config): number {
  return listFiles(spoolDirectory(config), SEGMENT).length;
}

/** Takes those out who were forgotten while a file's webhooks waited. It is kept raw where that fails, which is told. */
export async function redactRetainedFile(context: Context, file: string): Promise<void> {
  try {
    if (!(await hasForgottenPeople(context.db))) return;
    const redacted = await redactFile(file, async (texts) => {
      const raws = texts.map((text) => ({ text }));
      const found = await redactForgotten(context.keys, context.db, raws);
      const fault = found.find((one) => one.error !== undefined)?.error;
      if (fault !== undefined) context.log.error({ file, error: describeError(fault) }, 'not all of it was redacted');
      return found.map(({ text }) => text);
    });
    if (redacted) await replace(file, redacted);
  } catch (error) {
    context.log.error({ file, error: describeError(error) }, 'a file of the spool could not be redacted');
  }
}

/** Where the spool lies, if there is one. */
export function spoolDirectory({ SPOOL_DIR, DATA_DIR }: Config): string {
  return SPOOL_DIR ?? path.join(DATA_DIR, 'spool');
}

function listFiles(directory: string, which: RegExp): string[] {
  try {
    return readdirSync(directory).filter((name) => which.test(name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** @returns what the file is to hold, undefined where it stays as it is. */
async function redactFile(
  file: string,
  redact: (texts: string[]) => Promise<(string | undefined)[]>,
): Promise<Buffer | undefined> {
  const stretches = [...splitSegment(readFileSync(file))];
  const redacted = await redact(stretches.map(({ bytes, record }) => decodeText(record?.body ?? bytes)));
  if (redacted.every((text) => text === undefined)) return undefined;
  return Buffer.concat(
    stretches.map(({ bytes, record }, index) => {
      const text = redacted[index];
      if (text === undefined) return bytes;
      return record ? encodeRecord({ ...record, body: Buffer.from(text) }) : Buffer.from(text);
    }),
  );
}

/** Whole or not at all. */
async function replace(file: string, content: Buffer): Promise<void> {
  const draft = `${file}.redacted`;
  await using handle = await open(draft, 'w', 0o600);
  await handle.writeFile(content);
  await handle.sync();
  await rename(draft, file);
}

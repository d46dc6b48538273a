/**
 * Redacts forgotten persons from files that stay in the spool's directory (`.refused`, `.torn`): they hold raw webhooks.
 */
import { readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../config.ts';
import type { Context } from '../../context.ts';
import { decodeText } from '../../domain/person/decode-text.ts';
import type { Erase } from '../../domain/person/person.ts';
import { describeError } from '../../log.ts';
import { hasForgottenPeople, redactForgotten } from '../../privacy/redact-forgotten.ts';
import { listSpoolFiles } from './count-retained-files.ts';
import { encodeRecord, splitSegment } from './spool-format.ts';

const RETAINED = /\.(?:refused|torn)$/;
const SEGMENT = /\.spool$/;

/** Redacts a person from each file; damaged bytes are redacted as text. */
export function eraseFromRetainedFiles(context: Context): Erase {
  return async ({ redact, onSkipped }, { write }) => {
    const directory = spoolDirectory(context.config);
    let changed = 0;
    for (const name of listSpoolFiles(directory, RETAINED)) {
      context.signal.throwIfAborted();
      const file = path.join(directory, name);
      try {
        const redacted = await redactFile(file, (texts) => Promise.resolve(texts.map((text) => redact(text))));
        if (!redacted) continue;
        changed++;
        if (write) await replace(file, redacted);
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        onSkipped(name);
      }
    }
    return changed;
  };
}

/** @returns how many segments are not drained yet. */
export function countSegments(config: Config): number {
  return listSpoolFiles(spoolDirectory(config), SEGMENT).length;
}

/** Redacts persons who were forgotten while the file's webhooks waited. If that fails, the file stays raw and an error is logged. */
export async function redactRetainedFile(context: Context, file: string): Promise<void> {
  try {
    if (!(await hasForgottenPeople(context.db))) return;
    const redacted = await redactFile(file, async (texts) => {
      const raws = texts.map((text) => ({ text }));
      const found = await redactForgotten(context.keys, context.db, raws);
      const failure = found.find((one) => one.error !== undefined)?.error;
      if (failure !== undefined)
        context.log.error(
          { file, error: describeError(failure) },
          'a file of the spool could not be redacted completely',
        );
      return found.map(({ text }) => text);
    });
    if (redacted) await replace(file, redacted);
  } catch (error) {
    context.log.error({ file, error: describeError(error) }, 'a file of the spool could not be redacted');
  }
}

/** Whether a web process has a spool: with DATABASE_URL only where SPOOL_DIR is set. */
export function hasSpool({ SPOOL_DIR, DATABASE_URL }: Config): boolean {
  return SPOOL_DIR !== undefined || DATABASE_URL === undefined;
}

/** @returns the spool's directory, which may not exist. */
export function spoolDirectory({ SPOOL_DIR, DATA_DIR }: Config): string {
  return SPOOL_DIR ?? path.join(DATA_DIR, 'spool');
}

/** @returns the redacted content; undefined if nothing changes. */
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

/** Replaces the file atomically. */
async function replace(file: string, content: Buffer): Promise<void> {
  const draft = `${file}.redacted`;
  await using handle = await open(draft, 'w', 0o600);
  await handle.writeFile(content);
  await handle.sync();
  await rename(draft, file);
}

/**
 * Compares the chain and the log with hashes that are stored elsewhere: what was truncated or rebuilt is consistent in itself.
 * Reports store the hash of their cut, and files the log's checkpoints. Leaves that a recorded restore lost are not missed.
 */

import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import { parseCheckpoint } from '../tlog/note.ts';
import { findLost, type KnownOrigin, readKnownOrigins } from '../tlog/origins.ts';
import { readRecorded } from '../tlog/recorded.ts';
import { readRoot, readSize } from '../tlog/tree.ts';
import type { ReportBreak } from './collect-breaks.ts';

/** More differences than this mean one rebuilt chain. */
const REPORTS_MAX = 100;

/** Compares the chain with reports. @param end the newest position, 0 while there is none. */
export async function verifyReports(context: Context, end: number, report: ReportBreak): Promise<void> {
  const rows = await context.db
    .selectFrom('reports')
    .leftJoin('seals', 'seals.position', 'reports.cut_seal_position')
    .select(['day', 'revision', 'cut_seal_position as position', 'seals.hash'])
    .where('cut_seal_position', 'is not', null)
    // a report from before the hash was stored proves only how far the chain went
    .where(sql<boolean>`(seals.position IS NULL OR seals.hash <> reports.cut_seal_hash)`)
    .orderBy('cut_seal_position', 'desc')
    .limit(REPORTS_MAX)
    .execute();
  for (const { day, revision, position, hash } of rows) {
    const cut = `the report of ${day}, revision ${revision},`;
    const says = hash
      ? `its hash is not the one that ${cut} was cut at`
      : `${cut} was cut there, and the chain ends at ${end}`;
    report({ scope: `seal ${position}`, says });
  }
}

/** Compares the log with the checkpoints in files, by default those of this machine. Reports the first difference of each file. */
export async function verifyRecorded(context: Context, report: ReportBreak, directory?: string): Promise<void> {
  const { db } = context;
  const origins = await readKnownOrigins(db);
  for (const { file, notes } of await readRecorded(context.config, directory)) {
    context.signal.throwIfAborted();
    if (notes.length === 0) report({ scope: `manifests/${file}`, says: 'it has no checkpoint that can be read' });
    for (const [index, note] of notes.entries()) {
      // the root of the newest one covers all leaves before it
      const says = await compareRecorded(db, origins, note, { isNewest: index === notes.length - 1 });
      if (says === undefined) continue;
      report({ scope: `manifests/${file}`, says });
      break;
    }
  }
}

async function compareRecorded(
  db: Reader,
  origins: KnownOrigin[],
  note: string,
  { isNewest }: { isNewest: boolean },
): Promise<string | undefined> {
  const checkpoint = parseCheckpoint(note);
  if (!checkpoint) return 'it has no checkpoint that can be read';
  const { origin, size, root } = checkpoint;
  if (findLost(origins, checkpoint)) return undefined;
  if (!origins.some((one) => one.origin === origin)) return `it names the log ${origin}, which is gone`;
  if (size > (await readSize(db))) return `it names ${size} leaves, and the log has fewer`;
  const [stored] = await db.selectFrom('log_checkpoints').select('root').where('size', '=', size).execute();
  const own = !isNewest && stored ? stored.root : await readRoot(db, size);
  return own.equals(root) ? undefined : `its root of ${size} leaves is not the log's`;
}

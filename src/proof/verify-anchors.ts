/**
 * Compares the chain with hashes stored elsewhere: a chain that was truncated or rebuilt is consistent in itself.
 * Reports store the hash of their cut, and earlier checks of the books that of their end; the nightly manifests and the
 * heads of each minute are outside of the database.
 * Positions that a recorded restore lost are not missed.
 */

import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { sql } from 'kysely';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { isLostPosition, readRestores } from '../database/restores.ts';
import { append } from '../domain/lists.ts';
import { readMonthChanges } from '../seal/read-month-closes.ts';
import { headsDirectory, listHeadFiles } from '../seal/record-heads.ts';
import type { ReportBreak } from './collect-breaks.ts';
import { manifestsDirectories } from './write-manifest.ts';

/** More differences than this mean one rebuilt chain. */
const REPORTS_MAX = 100;
const HEADS_AT_ONCE = 1_000;
const MANIFEST_NAME = /^\d{4}-\d{2}-\d{2}\.json$/;

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

/** Compares the chain with the positions up to which earlier checks found the books whole. */
export async function verifyProofs(context: Context, end: number, report: ReportBreak): Promise<void> {
  const rows = await context.db
    .selectFrom('books_checks as checks')
    .leftJoin('seals', 'seals.position', 'checks.position')
    .select(['checks.position', 'checks.finished_at as at', 'seals.hash'])
    .where('checks.finished_at', 'is not', null)
    .where('checks.broken', '=', 0)
    .where('checks.position', '>', 0)
    .where(sql<boolean>`(seals.position IS NULL OR seals.hash <> checks.hash)`)
    .orderBy('checks.position', 'desc')
    .orderBy('checks.seq')
    .limit(REPORTS_MAX)
    .execute();
  for (const [index, { position, at, hash }] of rows.entries()) {
    // while nothing is sealed, each night reaches the same position
    if (rows[index - 1]?.position === position) continue;
    const check = `the books check of ${at?.toISOString()}`;
    const says = hash ? `its hash is not the one that ${check} read` : `${check} read it, and the chain ends at ${end}`;
    report({ scope: `seal ${position}`, says });
  }
}

const HEAD = z.object({
  position: z.int().positive(),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  /** When it was sealed or recorded. */
  at: z.coerce.date().optional(),
});
type Head = z.infer<typeof HEAD>;
const MONTH = z.object({ month: z.string(), position: z.int(), digest: z.string() });
/** Manifests of earlier versions name no months. */
const MANIFEST = z.object({ sealed: HEAD, months: z.array(MONTH).default([]) });

/**
 * Compares the chain with the manifests of a directory, by default of MANIFESTS_DIR and this machine's DATA_DIR. Without
 * MANIFESTS_DIR another replica has others, or none.
 */
export async function verifyManifests(
  context: Context,
  end: number,
  report: ReportBreak,
  directory?: string,
): Promise<void> {
  const restores = await readRestores(context.db);
  const changes = await readMonthChanges(context.db);
  const closed = new Set(changes.map((one) => `${one.month} ${one.position} ${one.digest?.toString('hex')}`));
  for (const file of await listManifests(context, directory)) {
    if (context.signal.aborted) return;
    const name = path.basename(file);
    const manifest = readManifest(await readFile(file, 'utf8'));
    if (!manifest) {
      report({ scope: `manifests/${name}`, says: 'it is no manifest that can be read' });
      continue;
    }
    const { sealed, months } = manifest;
    if (isLost(restores, sealed)) continue;
    for (const { month, position, digest } of months) {
      const isKnown = closed.has(`${month} ${position} ${digest}`);
      if (!isKnown)
        report({ scope: `month ${month}`, says: `manifests/${name} names a close of it that is not stored` });
    }
    const scope = `seal ${sealed.position}`;
    const seal = await context.db
      .selectFrom('seals')
      .select('hash')
      .where('position', '=', sealed.position)
      .executeTakeFirst();
    if (!seal) report({ scope, says: `manifests/${name} names it, and the chain ends at ${end}` });
    else if (seal.hash.toString('hex') !== sealed.hash) {
      report({ scope, says: `its hash is not the one in manifests/${name}` });
    }
  }
}

/**
 * Compares the chain with the heads that the sealer recorded in a directory, by default in this machine's DATA_DIR. Reports
 * the first difference of each file: the later ones follow from it.
 */
export async function verifyHeads(
  context: Context,
  end: number,
  report: ReportBreak,
  directory = headsDirectory(context.config),
): Promise<void> {
  const restores = await readRestores(context.db);
  for (const name of await listHeadFiles(directory)) {
    if (context.signal.aborted) return;
    const text = await readFile(path.join(directory, name), 'utf8');
    // a line that a crash cut short is no difference
    if (text.trim() === '') report({ scope: `manifests/${name}`, says: 'it is empty: its heads are lost' });
    const heads = readHeads(text).filter((head) => !isLost(restores, head));
    for (let from = 0; from < heads.length; from += HEADS_AT_ONCE) {
      const some = heads.slice(from, from + HEADS_AT_ONCE);
      const rows = await context.db
        .selectFrom('seals')
        .select(['position', 'hash'])
        .where(
          'position',
          'in',
          some.map((head) => head.position),
        )
        .execute();
      const hashes = new Map(rows.map((row) => [row.position, row.hash.toString('hex')]));
      const wrong = some.find((head) => hashes.get(head.position) !== head.hash);
      if (!wrong) continue;
      const says = hashes.has(wrong.position)
        ? `its hash is not the one in manifests/${name}`
        : `manifests/${name} names it, and the chain ends at ${end}`;
      report({ scope: `seal ${wrong.position}`, says });
      break;
    }
  }
}

/**
 * Finds the newest position that a restore lost, among the manifests and heads of a directory.
 * @returns undefined if they name none.
 */
export async function findLostPosition(
  context: Context,
  directory?: string,
): Promise<(Head & { file: string }) | undefined> {
  const restores = await readRestores(context.db);
  const named: (Head & { file: string })[] = [];
  for (const file of await listManifests(context, directory)) {
    const sealed = readManifest(await readFile(file, 'utf8'))?.sealed;
    if (sealed) named.push({ ...sealed, file: path.basename(file) });
  }
  const headsOf = directory ?? headsDirectory(context.config);
  for (const file of await listHeadFiles(headsOf)) {
    const heads = readHeads(await readFile(path.join(headsOf, file), 'utf8'));
    append(
      named,
      heads.map((head) => ({ ...head, file })),
    );
  }
  return named.filter((head) => isLost(restores, head)).sort((a, b) => b.position - a.position)[0];
}

function isLost(restores: Parameters<typeof isLostPosition>[0], { position, at }: Head): boolean {
  return at !== undefined && isLostPosition(restores, position, at);
}

/** A line that a crash cut short is left out. */
function readHeads(text: string): Head[] {
  return text.split('\n').flatMap((line) => {
    try {
      return HEAD.safeParse(JSON.parse(line)).data ?? [];
    } catch {
      return [];
    }
  });
}

/** The files of a directory, or of those of this process, each oldest first. */
async function listManifests({ config }: Context, directory: string | undefined): Promise<string[]> {
  const directories = directory === undefined ? manifestsDirectories(config) : [directory];
  return (await Promise.all(directories.map(listManifestsOf))).flat();
}

async function listManifestsOf(directory: string): Promise<string[]> {
  try {
    const names = (await readdir(directory)).filter((name) => MANIFEST_NAME.test(name)).sort();
    return names.map((name) => path.join(directory, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function readManifest(text: string) {
  try {
    return MANIFEST.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

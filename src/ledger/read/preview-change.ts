/**
 * Previews a change of the books: runs the operation itself in a transaction that is rolled back, and returns what it
 * would have written. So a preview cannot differ from the change, and refuses what the change refuses. It holds the
 * locks of the change for as long.
 */
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import { matchesPlatform } from '../../database/shared/matches-platform.ts';
import { transact } from '../../database/transact.ts';
import type { Day, WallTime } from '../../domain/calendar.ts';
import { isMismatchKind, type MismatchKind } from '../../domain/mismatch.ts';
import { findClosedDays } from '../../mismatches/find-closed-days.ts';
import { type Posting, splitAccount } from '../journal/plan-entries.ts';
import { compareStatements } from '../stated/state-balance.ts';
import { finishReposts } from '../stated/state-opening.ts';
import { readPostings } from './read-postings.ts';

/** Entries and opened mismatches that a preview returns; it counts other entries. */
const ENTRIES_MAX = 2_000;
/** The accounts of the balance that a report opens and closes with. */
const BALANCE_ACCOUNTS = new Set(['Assets:Provider:Available', 'Assets:Provider:Held']);

export type PreviewedEntry = { seq: number; kind: string; platform: string; atWall: WallTime; postings: Posting[] };

export type ChangePreview = {
  /** At most ENTRIES_MAX, in the order of writing. */
  entries: PreviewedEntry[];
  /** Ended days with a report that get another revision: also later ones, whose balances change. */
  days: Day[];
  /** Mismatches that it opens, also by the stated balances that no longer agree: they raise alerts. */
  opened: Opened[];
};

type Opened = { kind: MismatchKind; scope: string };

class RolledBack extends Error {
  readonly entries: PreviewedEntry[];
  readonly opened: Opened[];

  constructor(entries: PreviewedEntry[], opened: Opened[]) {
    super('a preview was rolled back');
    this.entries = entries;
    this.opened = opened;
  }
}

/**
 * @param change gets a context whose `db` is the transaction. It must wait only for the database; false: it is made in part.
 * @throws the errors of the change.
 */
export async function previewChange(
  context: Context,
  change: (context: Context) => Promise<unknown>,
): Promise<ChangePreview> {
  const since = context.clock.now();
  try {
    return await transact(
      context.db,
      async (trx) => {
        const before = await readNewestEntry(trx);
        const inner = { ...context, db: trx, wakeUps: silence(context.wakeUps) };
        const made = await change(inner);
        const entries = await readEntriesAfter(trx, before);
        if (entries.length > 0 && made !== false) await compareStatements(inner);
        throw new RolledBack(entries, await readOpened(trx, since));
      },
      { retryDuplicates: true },
    );
  } catch (error) {
    if (!(error instanceof RolledBack)) throw error;
    // appliers may have committed entries meanwhile: those of the preview are gone
    const others = await readExisting(context.db, error.entries);
    const entries = error.entries.filter(({ seq }) => !others.has(seq));
    const keyOf = ({ kind, scope }: Opened): string => `${kind} ${scope}`;
    const known = new Set((await readOpened(context.db, since)).map(keyOf));
    const opened = error.opened.filter((one) => !known.has(keyOf(one)));
    const found = await findClosedDays(
      context,
      context.db,
      entries.map(({ atWall }) => ({ atWall, runSeq: undefined })),
    );
    const days = new Set([
      ...found.map(({ scope }) => scope),
      ...opened.flatMap(({ kind, scope }) => (kind === 'closed_day_changed' ? [scope] : [])),
      ...(await listLaterDays(context, entries)),
    ]);
    return { entries, days: [...days].sort(), opened };
  }
}

/**
 * Lists the ended days with a report whose balance these entries move, on their own day or an earlier one. Of more entries
 * than a preview returns it takes every later day.
 */
async function listLaterDays({ calendar, clock, db }: Context, entries: PreviewedEntry[]): Promise<Day[]> {
  const moves = entries.flatMap(({ atWall, postings }) =>
    postings
      .filter(({ account }) => BALANCE_ACCOUNTS.has(splitAccount(account).account))
      .map((one) => ({ ...one, atWall })),
  );
  const [first] = moves.map(({ atWall }) => atWall.slice(0, 10)).sort();
  if (first === undefined) return [];
  const rows = await db
    .selectFrom('reports')
    .select('day')
    .distinct()
    .where('day', '>=', first)
    .where('day', '<', calendar.dayOf(clock.now()))
    .where('state', '!=', 'partial')
    .execute();
  return rows.flatMap(({ day }) => {
    const sums = new Map<string, bigint>();
    for (const { account, cents, atWall } of moves)
      if (atWall.slice(0, 10) <= day) sums.set(account, (sums.get(account) ?? 0n) + cents);
    return entries.length === ENTRIES_MAX || [...sums.values()].some((sum) => sum !== 0n) ? [day] : [];
  });
}

async function readNewestEntry(db: Reader): Promise<number> {
  const row = await db.selectFrom('entries').select('seq').orderBy('seq', 'desc').limit(1).executeTakeFirst();
  return row?.seq ?? 0;
}

async function readEntriesAfter(db: Reader, after: number): Promise<PreviewedEntry[]> {
  const rows = await db
    .selectFrom('entries')
    .select(['seq', 'kind', 'platform', 'at_wall'])
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(ENTRIES_MAX)
    .execute();
  const postings = await readPostings(
    db,
    rows.map(({ seq }) => seq),
  );
  return rows.map(({ at_wall: atWall, ...row }) => ({ ...row, atWall, postings: postings.get(row.seq) ?? [] }));
}

async function readExisting(db: Reader, entries: PreviewedEntry[]): Promise<Set<number>> {
  if (entries.length === 0) return new Set();
  const seqs = entries.map(({ seq }) => seq);
  const rows = await db.selectFrom('entries').select('seq').where('seq', 'in', seqs).execute();
  return new Set(rows.map(({ seq }) => seq));
}

/** Mismatches that were opened since and raise an alert of their own. */
async function readOpened(db: Reader, since: Date): Promise<Opened[]> {
  const rows = await db
    .selectFrom('mismatches')
    .select(['kind', 'scope'])
    .where('opened_at', '>=', since)
    .where('state', '!=', 'resolved')
    .where('baseline', '=', 0)
    .orderBy('scope')
    .limit(ENTRIES_MAX)
    .execute();
  return rows.flatMap(({ kind, scope }) => (isMismatchKind(kind) ? [{ kind, scope }] : []));
}

/** A context whose operations wake nobody: nothing will be committed. */
function silence({ alerts }: Context['wakeUps']): Context['wakeUps'] {
  const silent = { ...alerts, notify() {} };
  return { inbox: silent, callbacks: silent, alerts: silent, runs: silent };
}

/** Transactions of a platform up to which a preview reposts them: it takes about a second and locks them meanwhile. */
const REPOSTED_MAX = 500;

/**
 * Previews a change of a platform's opening, with the entries that are reposted because of it.
 * @returns the preview; `isWhole` is false where the platform has more than REPOSTED_MAX transactions: these are reposted in
 *   batches after the change, so the preview has the change alone.
 */
export async function previewRepost(
  context: Context,
  platform: string,
  change: (context: Context) => Promise<unknown>,
): Promise<ChangePreview & { isWhole: boolean }> {
  let isWhole = true;
  const preview = await previewChange(context, async (inner) => {
    await change(inner);
    isWhole = await hasFewTransactions(inner.db, platform);
    if (isWhole) await finishReposts(inner);
    return isWhole;
  });
  return { ...preview, isWhole };
}

async function hasFewTransactions(db: Reader, platform: string): Promise<boolean> {
  const more = await db
    .selectFrom('transactions')
    .select('seq')
    .where(matchesPlatform('platform', platform))
    .limit(1)
    .offset(REPOSTED_MAX)
    .executeTakeFirst();
  return more === undefined;
}

/**
 * Verifies that the derived balances are the sums of the sealed postings, month by month, each in a short snapshot, since
 * the sealer continues meanwhile.
 *
 * For each month, a check keeps a digest of its sums as of the position that it proves. A later check subtracts the
 * postings that were sealed since from the sums, and must get that digest: so it compares every sum, and reads new
 * postings only. If it does not, all postings of the month are read, to say where.
 */
import { createHash } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import type { Context } from '../context.ts';
import { inSnapshot } from '../database/in-snapshot.ts';
import type { Reader } from '../database/reader.ts';
import type { Database } from '../database/tables.ts';
import { ConfereError } from '../domain/errors.ts';
import { GRAINS } from '../seal/derive-balances.ts';
import { findLateEntries } from '../seal/find-late-entries.ts';
import { readAccountNames } from '../seal/load-sealed-entries.ts';
import { readNewestSeal } from '../seal/read-seals.ts';
import type { Verification } from './check-state.ts';
import type { ReportBreak } from './collect-breaks.ts';

/** Sorts after every text that begins with a month. */
const END = '~';
const ENTRIES_AT_ONCE = 100_000;

/** Cents by span and account number, for each grain. */
type Sums = Map<string, bigint>;
/** A position of the chain. */
type Cut = { position: number; entrySeq: number };

/** Verifies the next month. */
export async function verifyBalances(verification: Verification): Promise<boolean> {
  try {
    return await verifyNextMonth(verification);
  } catch (error) {
    // without a readable seal, it is unknown which entries are sealed
    if (!(error instanceof ConfereError) || error.code !== 'books_broken') throw error;
    verification.report({ scope: 'balances', says: `they can not be checked: of a sealed position, ${error.message}` });
    return false;
  }
}

async function verifyNextMonth({ context, state, proof, scratch, report }: Verification): Promise<boolean> {
  const { balances, walk } = state;
  if (proof) scratch.posted ??= await sumSealedBetween(context, proof.walk, walk);
  const known = [...Object.keys(proof?.balances.digests ?? {}), ...(scratch.posted?.keys() ?? [])];
  const month = await findNextMonth(context.db, balances.after, proof ? known : undefined);
  if (month === undefined) return false;
  const read = (withPostings: boolean) =>
    inSnapshot(context.db, (snapshot) => readMonth(snapshot, month, { walk, withPostings }));
  const { atWalk, ...found } = await read(!proof);
  if (proof) {
    const before = subtract(atWalk, pickMonth(scratch.posted ?? new Map(), month));
    const isProven = digestSums(before) === (proof.balances.digests[month] ?? digestSums(new Map()));
    if (!isProven && !compare(await read(true), report)) {
      const says = `its sums are not those that were proven at position ${proof.walk.position}, with the postings since`;
      report({ scope: `balance ${month}`, says });
    }
  } else compare(found, report);
  balances.digests[month] = digestSums(atWalk);
  balances.after = month;
  return true;
}

/**
 * Returns the first month after one that has sums or postings.
 * @param known the keys of sums that may be without a row: with them, no postings are searched.
 */
async function findNextMonth(db: Reader, after: string, known: string[] | undefined): Promise<string | undefined> {
  const months = known?.map((key) => key.slice(0, 7)).filter((month) => month > after) ?? [];
  const above = after === '' ? '' : `${after}${END}`;
  for (const { grain } of GRAINS) {
    const row = await db
      .selectFrom('balance_spans')
      .select('span')
      .where('grain', '=', grain)
      .where('span', '>', above)
      .orderBy('span')
      .limit(1)
      .executeTakeFirst();
    if (row) months.push(row.span.slice(0, 7));
  }
  for (const account of known ? [] : (await readAccountNames(db)).keys()) {
    const row = await db
      .selectFrom('postings')
      .select('at_wall')
      .where('account_seq', '=', account)
      .where('at_wall', '>', above)
      .orderBy('at_wall')
      .limit(1)
      .executeTakeFirst();
    if (row) months.push(row.at_wall.slice(0, 7));
  }
  return months.sort()[0];
}

type MonthSums = { month: string; names: Map<number, string>; folded: Sums; posted: Sums };

/** Reads the sums of a month, and what they were at the walk's position. */
async function readMonth(
  snapshot: Transaction<Database>,
  month: string,
  { walk, withPostings }: { walk: Cut; withPostings: boolean },
): Promise<MonthSums & { atWalk: Sums }> {
  const head = await readNewestSeal(snapshot);
  const folded = await readFolded(snapshot, month);
  // in the snapshot of the sums: an account may have been added since
  const names = await readAccountNames(snapshot);
  if (!head) return { month, names, folded, posted: new Map(), atWalk: folded };
  const late = await findLateEntries(snapshot, head, 'far');
  const ranged = await sumRange(snapshot, walk.entrySeq, head, { unsealed: late, month });
  const atWalk = subtract(subtract(folded, ranged), await sumLate(snapshot, walk, head, month));
  const posted = withPostings ? await sumPosted(snapshot, { month, names, to: head.entrySeq, late }) : new Map();
  return { month, names, folded, posted, atWalk };
}

/** Reports each sum that is not that of the postings. @returns whether there is one. */
function compare({ folded, posted, names }: MonthSums, report: ReportBreak): boolean {
  let differs = false;
  for (const key of new Set([...folded.keys(), ...posted.keys()])) {
    const [have = 0n, want = 0n] = [folded.get(key), posted.get(key)];
    if (have === want) continue;
    differs = true;
    const [span = '', account = ''] = key.split('\n');
    const name = names.get(Number(account)) ?? account;
    report({ scope: `balance ${span} ${name}`, says: `${have} cents are folded, and the postings sum to ${want}` });
  }
  return differs;
}

async function readFolded(db: Transaction<Database>, month: string): Promise<Sums> {
  const rows = await db
    .selectFrom('balance_spans')
    .select(['span', 'account_seq', 'amount_cents'])
    .where(
      'grain',
      'in',
      GRAINS.map(({ grain }) => grain),
    )
    .where('span', '>=', month)
    .where('span', '<', `${month}${END}`)
    .execute();
  return new Map(rows.map((row) => [`${row.span}\n${row.account_seq}`, row.amount_cents]));
}

async function sumPosted(
  db: Transaction<Database>,
  { month, names, to, late }: { month: string; names: Map<number, string>; to: number; late: number[] },
): Promise<Sums> {
  if (names.size === 0) return new Map();
  const rows = await selectHours(db, month)
    .where('account_seq', 'in', [...names.keys()])
    .where('entry_seq', '<=', to)
    .where('entry_seq', 'not in', late.length > 0 ? late : [0])
    .execute();
  return addHours(new Map(), rows);
}

/** Sums the postings of all entries that were sealed after one position and up to another, in parts. */
async function sumSealedBetween({ db, signal }: Context, from: Cut, to: Cut): Promise<Sums> {
  const sums = await sumLate(db, from, to);
  for (let after = from.entrySeq; after < to.entrySeq; after += ENTRIES_AT_ONCE) {
    signal.throwIfAborted();
    const end = Math.min(after + ENTRIES_AT_ONCE, to.entrySeq);
    const part = await inSnapshot(db, async (snapshot) => {
      const head = await readNewestSeal(snapshot);
      const unsealed = head ? await findLateEntries(snapshot, head, 'far') : [];
      return await sumRange(snapshot, after, { ...to, entrySeq: end }, { unsealed });
    });
    for (const [key, cents] of part) sums.set(key, (sums.get(key) ?? 0n) + cents);
  }
  return sums;
}

/** Sums entries of a range of numbers that were sealed up to a position. @param after the number below the first one. */
async function sumRange(
  db: Reader,
  after: number,
  to: Cut,
  { unsealed, month }: { unsealed: number[]; month?: string },
): Promise<Sums> {
  if (after >= to.entrySeq) return new Map();
  const later = await db
    .selectFrom('seal_stragglers')
    .select('entry_seq')
    .where('entry_seq', '>', after)
    .where('entry_seq', '<=', to.entrySeq)
    .where('position', '>', to.position)
    .execute();
  const left = [...later.map((row) => row.entry_seq), ...unsealed];
  const rows = await selectHours(db, month)
    .where('entry_seq', '>', after)
    .where('entry_seq', '<=', to.entrySeq)
    .where('entry_seq', 'not in', left.length > 0 ? left : [0])
    .execute();
  return addHours(new Map(), rows);
}

/** Sums late entries: below the number of the first position, and sealed after it. */
async function sumLate(db: Reader, from: Cut, to: Cut, month?: string): Promise<Sums> {
  const late = await db
    .selectFrom('seal_stragglers')
    .select('entry_seq')
    .where('position', '>', from.position)
    .where('position', '<=', to.position)
    .where('entry_seq', '<=', from.entrySeq)
    .execute();
  if (late.length === 0) return new Map();
  const seqs = late.map((row) => row.entry_seq);
  return addHours(new Map(), await selectHours(db, month).where('entry_seq', 'in', seqs).execute());
}

function selectHours(db: Reader, month?: string) {
  const query = db
    .selectFrom('postings')
    .select([
      'account_seq',
      sql<string>`LEFT(at_wall, 13)`.as('hour'),
      sql<bigint>`CAST(SUM(amount_cents) AS SIGNED)`.as('total_cents'),
    ])
    .groupBy(['account_seq', 'hour']);
  return month === undefined ? query : query.where('at_wall', '>=', month).where('at_wall', '<', `${month}${END}`);
}

function addHours(sums: Sums, rows: { account_seq: number; hour: string; total_cents: bigint }[]): Sums {
  for (const row of rows) {
    for (const { chars } of GRAINS) {
      const key = `${row.hour.slice(0, chars)}\n${row.account_seq}`;
      sums.set(key, (sums.get(key) ?? 0n) + row.total_cents);
    }
  }
  return sums;
}

function subtract(sums: Sums, less: Sums): Sums {
  const left = new Map(sums);
  for (const [key, cents] of less) left.set(key, (left.get(key) ?? 0n) - cents);
  return left;
}

function pickMonth(sums: Sums, month: string): Sums {
  return new Map([...sums].filter(([key]) => key.startsWith(month)));
}

/** SHA-256 of the sums that are not zero. */
function digestSums(sums: Sums): string {
  const lines = [...sums].filter(([, cents]) => cents !== 0n).map(([key, cents]) => `${key}\n${cents}\n`);
  return createHash('sha256').update(lines.sort().join('')).digest('hex');
}

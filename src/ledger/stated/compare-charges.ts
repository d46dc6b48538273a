/**
 * Compares what the provider charged with the contracts that people stated. A day and platform whose charges are not the
 * contracts' has one `commission_not_agreed`, with its total; without a contract there is none. It ends once they agree: after
 * another contract, or other charges.
 *
 * A step of the watch compares the days of which the ledger learnt since, at most every ten minutes, and those of contracts that
 * were stated or taken back, at once, a week a transaction. Its cursor is a setting; its row is the lock of a comparison.
 */
import { sql, type Transaction } from 'kysely';
import { SYSTEM_ACTOR } from '../../access/audit.ts';
import type { Context } from '../../context.ts';
import { readSetting } from '../../database/keys/settings.ts';
import type { Reader } from '../../database/reader.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { addDays, type Day, MINUTE_MS } from '../../domain/calendar.ts';
import { formatAmount } from '../../domain/money.ts';
import { raiseMismatches } from '../../mismatches/raise-mismatches.ts';
import { resolveMismatches, setResolved } from '../../mismatches/resolve-mismatches.ts';
import { sealNow } from '../../seal/seal-ledger.ts';
import { refuse, refuseField } from '../../texts/refuse.ts';
import { type CommissionContract, readContracts } from '../journal/read-contracts.ts';
import { type Span, sumDifferences } from './read-fees.ts';

const SETTING = 'compared_charges';
const EVERY_MS = 10 * MINUTE_MS;
/** Days of one transaction. */
const DAYS_MAX = 7;
/** A step of the watch begins no transaction after it: the steps behind it wait meanwhile. */
const STEP_MS_MAX = 10_000;
/** Mismatches of before this kind that one step ends. */
const ENDED_MAX = 200;

type Stated = Pick<CommissionContract, 'id' | 'from' | 'to'>;
/** `due`: days that are still to be compared, for rows up to these numbers. */
type Cursor = { entrySeq: number; eventSeq: number; at: string; contracts: Stated[]; due: Span | null };

/** Compares the days that may have changed since the step before. What time does not suffice for is left to the next step. */
export async function compareNewCharges(context: Context): Promise<void> {
  await endOlderKind(context);
  const { clock, signal } = context;
  const until = clock.now().getTime() + STEP_MS_MAX;
  while ((await compareNextDays(context)) && !signal.aborted && clock.now().getTime() < until);
}

/** @returns whether days are left. */
async function compareNextDays(context: Context): Promise<boolean> {
  const { db, calendar, clock } = context;
  const now = clock.now();
  const stored = await readSetting(db, SETTING);
  const known = stored && (JSON.parse(stored.toString()) as Cursor);
  const contracts = (await readContracts(db)).map(({ id, from, to }) => ({ id, from, to }));
  const changed = listChanged(known?.contracts ?? [], contracts);
  const isQuiet = changed.length === 0 && !known?.due;
  // a contract that is in force has charges to compare; without one, nothing was ever raised
  if (isQuiet && (contracts.length === 0 || (known && now.getTime() - Date.parse(known.at) < EVERY_MS))) return false;
  const { entrySeq, eventSeq } = await sealNow(context);
  const learnt = known && contracts.length > 0 ? await readLearnt(db, known) : [];
  const today = calendar.dayOf(now);
  const due = joinSpans([...listDue(changed, known, today), ...learnt], await findFirstPaid(db), today);
  const last = due && [addDays(due.from, DAYS_MAX - 1), due.to].sort()[0];
  const rest = due && last && last < due.to ? { from: addDays(last, 1), to: due.to } : null;
  if (due && last) await compareSpan(context, { from: due.from, to: last });
  const cursor: Cursor = { entrySeq, eventSeq, at: now.toISOString(), contracts, due: rest };
  await db
    .updateTable('settings')
    .set({ value: Buffer.from(JSON.stringify(cursor)) })
    .where('name', '=', SETTING)
    .execute();
  return rest !== null;
}

/** The days whose charges are still to be compared: until then, `commission_not_agreed` may be raised for each. */
export async function findUncompared({ db, calendar, clock }: Context): Promise<Span | undefined> {
  const stored = await readSetting(db, SETTING);
  const known = stored && (JSON.parse(stored.toString()) as Cursor);
  const changed = listChanged(known?.contracts ?? [], await readContracts(db));
  const today = calendar.dayOf(clock.now());
  return joinSpans(listDue(changed, known, today), await findFirstPaid(db), today);
}

/** The spans of contracts that changed, and what an earlier step left. */
function listDue(changed: Stated[], known: Cursor | undefined, today: Day): Span[] {
  return [...changed.map(({ from, to }) => ({ from, to: to ?? today })), ...(known?.due ? [known.due] : [])];
}

type Checked = { payments: number; uncovered: number; raised: number };

/**
 * Compares the payments of a range of days at once.
 * @returns `payments`: how many a contract covers; `uncovered`: how many none covers; `raised`: mismatches that were opened.
 * @throws ConfereError `conflict` if no contract covers any of the days.
 */
export async function checkCommissions(context: Context, { from, to }: Span): Promise<Checked> {
  if (to < from) throw refuseField('to', 'to_before_from');
  const contracts = await readContracts(context.db);
  if (!contracts.some((one) => one.from <= to && (one.to === null || one.to >= from)))
    throw refuse('contract_missing', { from, to });
  const total = { payments: 0, uncovered: 0, raised: 0 };
  for (let day = from; day <= to && !context.signal.aborted; day = addDays(day, DAYS_MAX)) {
    const checked = await compareSpan(context, { from: day, to: [addDays(day, DAYS_MAX - 1), to].sort()[0] ?? to });
    for (const name of ['payments', 'uncovered', 'raised'] as const) total[name] += checked[name];
  }
  return total;
}

/** Compares the payments of at most a month of days, in one transaction. */
export async function compareSpan(context: Context, span: Span): Promise<Checked> {
  const checked = await transact(context.db, (trx) => compareLocked(context, trx, span), { retryDuplicates: true });
  context.wakeUps.alerts.notify();
  return checked;
}

/** Under the lock, what is committed is read: a total that another process read before never replaces it. */
async function compareLocked(context: Context, trx: Transaction<Database>, span: Span): Promise<Checked> {
  const { calendar, clock, webhooksSince } = context;
  const none: Cursor = { entrySeq: 0, eventSeq: 0, at: new Date(0).toISOString(), contracts: [], due: null };
  await trx
    .insertInto('settings')
    .values({ name: SETTING, value: Buffer.from(JSON.stringify(none)) })
    .onDuplicateKeyUpdate({ name: SETTING })
    .execute();
  const days = await sumDifferences(trx, await readContracts(trx), span);
  const found = days
    .filter(({ differing }) => differing > 0)
    .map(({ day, platform, differing, charged, agreed }) => ({
      kind: 'commission_not_agreed' as const,
      scope: `${day} ${platform}`,
      amountCents: charged > agreed ? charged - agreed : agreed - charged,
      expected: { day, commission: formatAmount(agreed) },
      actual: {
        commission: formatAmount(charged),
        payments: differing,
        difference: formatAmount(charged - agreed),
      },
      baseline: day < calendar.dayOf(webhooksSince),
    }));
  const raised = await raiseMismatches(trx, found, clock.now());
  const differing = new Set(found.map(({ scope }) => scope));
  const ended = (await listScopes(trx, span)).filter((scope) => !differing.has(scope));
  const resolved = ended.map((scope) => ({ kind: 'commission_not_agreed' as const, scope }));
  await resolveMismatches(trx, resolved, 'fresh_evidence', clock.now());
  const sum = (pick: (one: (typeof days)[number]) => number): number => days.reduce((all, one) => all + pick(one), 0);
  return {
    payments: sum((one) => one.payments - one.uncovered),
    uncovered: sum((one) => one.uncovered),
    raised: raised.length,
  };
}

/** The scopes of mismatches of these days that are open, or that a person resolved. */
async function listScopes(db: Reader, { from, to }: Span): Promise<string[]> {
  const rows = await db
    .selectFrom('mismatches')
    .select('scope')
    .distinct()
    .where('kind', '=', 'commission_not_agreed')
    .where('scope', '>=', from)
    .where('scope', '<', addDays(to, 1))
    .where((eb) => eb.or([eb('open_scope', 'is not', null), eb('kept_scope', 'is not', null)]))
    .execute();
  return rows.map(({ scope }) => scope);
}

/** Contracts that were stated or taken back since. */
function listChanged(before: Stated[], after: Stated[]): Stated[] {
  const [known, now] = [before, after].map((list) => new Set(list.map(({ id }) => id)));
  return [...after.filter(({ id }) => !known?.has(id)), ...before.filter(({ id }) => !now?.has(id))];
}

/** The days of entries and events above the cursor: each charge of a payment is an entry of its day. */
async function readLearnt(db: Reader, cursor: Cursor): Promise<Span[]> {
  const spans: Span[] = [];
  for (const [table, seq] of [
    ['entries', cursor.entrySeq],
    ['events', cursor.eventSeq],
  ] as const) {
    const row = await db
      .selectFrom(table)
      .select([
        sql<Day | null>`SUBSTR(MIN(at_wall), 1, 10)`.as('from'),
        sql<Day | null>`SUBSTR(MAX(at_wall), 1, 10)`.as('to'),
      ])
      .where('seq', '>', seq)
      .executeTakeFirst();
    if (row?.from && row.to) spans.push({ from: row.from, to: row.to });
  }
  return spans;
}

async function findFirstPaid(db: Reader): Promise<Day | undefined> {
  const row = await db
    .selectFrom('events')
    .select('at_wall')
    .where('status', '=', 'paid')
    .orderBy('at_wall')
    .limit(1)
    .executeTakeFirst();
  return row?.at_wall.slice(0, 10);
}

/** One span over all, from the first payment to today. */
function joinSpans(spans: Span[], first: Day | undefined, today: Day): Span | undefined {
  if (first === undefined || spans.length === 0) return undefined;
  const from = [first, spans.map((one) => one.from).sort()[0] ?? first].sort()[1] ?? first;
  const to =
    [
      today,
      spans
        .map((one) => one.to)
        .sort()
        .at(-1) ?? today,
    ].sort()[0] ?? today;
  return from <= to ? { from, to } : undefined;
}

/** Ends what earlier versions raised for each payment as `commission_differs`: its day has the total now. */
async function endOlderKind({ db, clock }: Context): Promise<void> {
  const rows = await db
    .selectFrom('mismatches')
    .select('seq')
    .where('kind', '=', 'commission_differs')
    .where('open_scope', 'is not', null)
    .where(sql<boolean>`JSON_EXTRACT(expected, '$.contract') IS NOT NULL`)
    .limit(ENDED_MAX)
    .execute();
  if (rows.length === 0) return;
  await transact(db, async (trx) => {
    for (const { seq } of rows) {
      const end = { resolution: 'fresh_evidence', note: null, actor: SYSTEM_ACTOR };
      await setResolved(trx, seq, end, clock.now());
    }
  });
}

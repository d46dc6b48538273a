import { sql } from 'kysely';
import { readCounted } from '../../callbacks/render/read-counted.ts';
import { readExpectedKeys } from '../../callbacks/render/read-expected-keys.ts';
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import { countDays, type Day } from '../../domain/calendar.ts';
import { groupValues } from '../../domain/lists.ts';
import { formatAmount } from '../../domain/money.ts';
import type { Operation } from '../../domain/statuses.ts';
import { describeSaid } from '../../texts/messages.ts';
import type { ExpectedState } from '../decide/decide-state.ts';
import { OWED } from '../decide/split-amount.ts';
import { findOldestUndecided } from '../read-expected-metrics.ts';
import { describeState, findUnfindable, withUnfindable } from './describe-state.ts';
import { type ExpectedFilters, matchFilters } from './filter-expected.ts';
import { presumeState } from './presume-state.ts';

/** Candidates of one expected payment, or of one payment. */
export const CANDIDATES_SHOWN_MAX = 20;

type Reading = Pick<Context, 'db' | 'clock' | 'calendar' | 'keys'>;

/** An expected payment as the API shows it. */
export type PresentedExpected = Omit<Awaited<ReturnType<typeof listExpected>>[number], 'seq'>;

/** Lists expected payments, the newest first. */
export async function listExpected(
  context: Reading,
  limit: number,
  after: number | undefined,
  filters: ExpectedFilters = {},
) {
  const { db, clock, calendar } = context;
  // before the rows: what is decided since is shown too
  const matchedTo = await readMatchedTo(context);
  let query = selectExpected(db, clock.now()).orderBy('head.seq', 'desc').limit(limit);
  if (after !== undefined) query = query.where('head.seq', '<', after);
  query = query.where((eb) => matchFilters(eb, context, filters));
  const rows = await query.execute();
  const seqs = rows.map(({ seq }) => seq);
  const keys = await readExpectedKeys(
    db,
    rows.map((row) => row.version_seq),
  );
  const [matches, candidates] = [await readMatches(db, seqs), await readCandidates(db, seqs)];
  const today = calendar.dayOf(clock.now());
  const unfindable = await findUnfindable(context, rows);
  return rows.map((row) => {
    const valuesOf = (kind: string) =>
      (keys.get(row.version_seq) ?? []).filter((key) => key.kind === kind).map(({ value }) => value);
    const matched = matches.get(row.seq) ?? [];
    // cast: only these states are stored
    const stored = { ...row, state: row.state as ExpectedState };
    const decided = Number(row.undecided) === 0;
    const said = presumeState(stored, matched, decided);
    const reason = withUnfindable(said, describeState(said), unfindable.get(row.id));
    return {
      ...{ seq: row.seq, id: row.id, source: row.source, number: row.number, operation: row.operation as Operation },
      ...{ amount: formatAmount(row.amount_cents), due_day: row.due_day, issued_day: row.issued_day },
      ...{ valid_until: row.valid_until, platform: row.platform },
      ...{ references: valuesOf('reference'), e2e_ids: valuesOf('e2e_id'), extra: row.extra, document: row.document },
      ...{ name: row.name, description: row.description, invoice_key: row.invoice_key },
      revised_at: row.revised_at?.toISOString() ?? null,
      ...{ state: said.state, reason: describeSaid(reason.said) || null, reason_code: reason.code },
      unfindable: unfindable.has(row.id),
      ...{ paid: formatAmount(row.settled_cents), refunded: formatAmount(row.returned_cents) },
      ...{ difference: formatAmount(row.settled_cents - row.amount_cents), paid_day: said.paid_day },
      late_days: countLateDays(said, today),
      matches: matched,
      candidates: (candidates.get(row.seq) ?? []).slice(0, CANDIDATES_SHOWN_MAX),
      disputed: (candidates.get(row.seq) ?? []).some(({ reason }) => reason === 'not_unique'),
      ...{ version: row.version, decided, matched_to: matchedTo, created_at: row.created_at.toISOString() },
    };
  });
}

/** The instant up to which all that was committed, or is over, is decided. */
async function readMatchedTo({ db, clock }: Pick<Context, 'db' | 'clock'>): Promise<string> {
  const now = clock.now();
  return ((await findOldestUndecided(db, now)) ?? now).toISOString();
}

/**
 * `undecided`: work waits for it or for a payment that it is matched with, or its end is over since. `shares_key`: a cancelled one, of which
 * another cancelled one has a key: a payment with it is of neither.
 */
function selectExpected(db: Reader, now: Date) {
  return db
    .selectFrom('expected_payments as head')
    .innerJoin('expected_versions as version', 'version.seq', 'head.version_seq')
    .leftJoin('expected_texts as texts', 'texts.version_seq', 'head.version_seq')
    .selectAll('head')
    .select(
      sql<number>`(head.look_at <= ${now}) IS TRUE
        OR EXISTS (SELECT 1 FROM expected_work WHERE expected_seq = head.seq)
        OR EXISTS (SELECT 1 FROM expected_matches made JOIN expected_work USING (transaction_seq)
          WHERE made.expected_seq = head.seq)`.as('undecided'),
    )
    .select(
      sql<number>`head.is_cancelled = 1 AND head.settled_cents > 0 AND EXISTS (SELECT 1 FROM expected_keys AS mine
        JOIN expected_keys AS theirs ON theirs.value = mine.value AND theirs.kind = mine.kind
        JOIN expected_payments AS other ON other.version_seq = theirs.version_seq
        WHERE mine.version_seq = head.version_seq AND other.seq <> head.seq
          AND other.is_cancelled = 1 AND other.operation = head.operation)`.as('shares_key'),
    )
    .select(['version.valid_until', 'version.invoice_key'])
    .select(['texts.document', 'texts.name', 'texts.description', 'texts.extra']);
}

/** Matches that stand, the oldest first, each with the amount that counts. */
async function readMatches(db: Reader, seqs: number[]) {
  const rows =
    seqs.length === 0
      ? []
      : await db
          .selectFrom('expected_matches as made')
          .innerJoin('transactions', 'transactions.seq', 'made.transaction_seq')
          .leftJoin('expected_matches as undone', 'undone.undoes_seq', 'made.seq')
          .leftJoin('expected_notes', 'expected_notes.match_seq', 'made.seq')
          .select(['made.seq', 'made.transaction_seq', 'made.expected_seq', 'made.amount_cents', 'made.rule'])
          .select(['made.actor', 'note', 'transactions.id'])
          .where('made.expected_seq', 'in', seqs)
          .where('made.part', 'is not', null)
          .where('undone.seq', 'is', null)
          .orderBy('made.seq')
          .execute();
  return groupValues(
    await readCounted(db, rows),
    (row) => row.expected_seq,
    ({ id, amount_cents, rule, actor, note }) => ({
      ...{ transaction_id: id, amount: formatAmount(amount_cents), rule, by: actor, note },
    }),
  );
}

async function readCandidates(db: Reader, seqs: number[]) {
  const rows =
    seqs.length === 0
      ? []
      : await db
          .selectFrom('expected_candidates')
          .innerJoin('transactions', 'transactions.seq', 'transaction_seq')
          .select(['expected_seq', 'transactions.id', 'transactions.amount_cents', 'rule', 'reason'])
          .where('expected_seq', 'in', seqs)
          .orderBy('transaction_seq')
          .execute();
  return groupValues(
    rows,
    (row) => row.expected_seq,
    ({ id, amount_cents, rule, reason }) => ({
      ...{ transaction_id: id, amount: formatAmount(amount_cents), rule, reason },
    }),
  );
}

type Due = { due_day: Day; paid_day: Day | null; state: string };

/** Days from the due day until the amount was reached, or until today; 0 where nothing is owed and no day is known. */
function countLateDays(row: Due, today: Day): number {
  if (row.paid_day === null && !OWED.includes(row.state)) return 0;
  return Math.max(0, countDays(row.due_day, row.paid_day ?? today) - 1);
}

import { sql } from 'kysely';
import { readCounted } from '../../callbacks/render/read-counted.ts';
import type { Reader } from '../../database/reader.ts';
import { maskNumber, selectOrderKeys } from '../../database/shared/read-parties.ts';
import { formatAmount } from '../../domain/money.ts';
import type { ExpectedState } from '../decide/decide-state.ts';
import { type KeyRule, keysOf } from '../decide/facts.ts';
import type { ExpectedKey } from '../expected-id.ts';
import { CANDIDATES_SHOWN_MAX } from './list-expected.ts';
import type { OrderScope } from './mask-expected.ts';

/**
 * A step in the life of an expected payment. `by`: who made it; null for the follower. `others`: orders that had a key of the payment
 * when a rule's match was withdrawn.
 */
export type StoryStep = { at: Date; by: string | null } & (
  | { kind: 'version'; version: number; amount: string; due: string }
  | { kind: 'cancelled' | 'reopened'; note: string | null }
  | { kind: 'matched'; transaction: string; amount: string; rule: string; note: string | null }
  | { kind: 'unmatched'; transaction: string; amount: string; reason: string; others: string[]; note: string | null }
  | { kind: 'state'; state: ExpectedState; paid: string }
);

const STEPS_MAX = 200;
/** Why a match is withdrawn that another order may have ended. */
const BY_OTHERS: readonly (string | null)[] = ['not_unique', 'matched_elsewhere'];

/** Reads what became of an expected payment, the oldest step first: at most 200 of each kind. @param scope which others it names. */
export async function readStory(db: Reader, id: string, scope: OrderScope): Promise<StoryStep[]> {
  const versions = await db
    .selectFrom('expected_versions')
    .select(['version', 'amount_cents', 'due_day', 'created_at', 'actor'])
    .where('expected_id', '=', id)
    .orderBy('version')
    .limit(STEPS_MAX)
    .execute();
  const own = db.selectFrom('expected_payments').select('seq').where('id', '=', id);
  const cancellations = await db
    .selectFrom('expected_cancellations as one')
    .leftJoin('expected_notes', 'expected_notes.cancellation_seq', 'one.seq')
    .select(['is_cancelled', 'created_at', 'actor', 'note'])
    .where('expected_seq', '=', own)
    .orderBy('one.seq')
    .limit(STEPS_MAX)
    .execute();
  const matches = await db
    .selectFrom('expected_matches as one')
    .innerJoin('transactions', 'transactions.seq', 'one.transaction_seq')
    .leftJoin('expected_notes', 'expected_notes.match_seq', 'one.seq')
    .select(['transactions.id', 'one.amount_cents', 'rule', 'reason', 'one.created_at', 'actor', 'note'])
    .select(['transactions.reference', 'transactions.e2e_id'])
    .select(sql<number>`undoes_seq IS NOT NULL`.as('undoes'))
    .where('expected_seq', '=', own)
    .orderBy('one.seq')
    .limit(STEPS_MAX)
    .execute();
  const naming = await readNaming(
    db,
    id,
    matches.filter(({ reason }) => BY_OTHERS.includes(reason)),
    scope,
  );
  const states = await db
    .selectFrom('expected_changes')
    .select(['state', 'settled_cents', 'at'])
    .where('expected_seq', '=', own)
    .orderBy('sequence')
    .limit(STEPS_MAX)
    .execute();
  const steps: StoryStep[] = [
    ...versions.map((row) => ({
      ...{ kind: 'version' as const, at: row.created_at, by: row.actor, version: row.version },
      ...{ amount: formatAmount(row.amount_cents), due: row.due_day },
    })),
    ...cancellations.map((row) => ({
      ...{ kind: row.is_cancelled ? ('cancelled' as const) : ('reopened' as const), at: row.created_at },
      ...{ by: row.actor, note: row.note },
    })),
    ...matches.map((row) => {
      const step = { at: row.created_at, by: row.actor, transaction: row.id, amount: formatAmount(row.amount_cents) };
      return row.undoes
        ? { ...step, kind: 'unmatched' as const, reason: row.reason ?? '', others: naming(row), note: row.note }
        : { ...step, kind: 'matched' as const, rule: row.rule, note: row.note };
    }),
    ...states.map((row) => ({
      ...{ kind: 'state' as const, at: row.at, by: null, state: row.state as ExpectedState },
      paid: formatAmount(row.settled_cents),
    })),
  ];
  return steps.sort((a, b) => a.at.getTime() - b.at.getTime());
}

type Withdrawn = { reason: string | null; reference: string | null; e2e_id: string | null; created_at: Date };

/** Reads the orders that have or had a key of these payments. @returns a function of those that had one of a payment when its match was withdrawn. */
async function readNaming(
  db: Reader,
  id: string,
  payments: Withdrawn[],
  { sources, merchantSeq, mask }: OrderScope,
): Promise<(row: Withdrawn) => string[]> {
  const values = payments.flatMap(({ reference, e2e_id }) => [reference, e2e_id]).filter((value) => value !== null);
  if (values.length === 0 || sources?.length === 0) return () => [];
  const rows = await selectOrderKeys(db)
    .innerJoin('expected_versions as version', 'version.expected_id', 'head.id')
    .innerJoin('expected_keys as theirs', 'theirs.version_seq', 'version.seq')
    .select(['theirs.kind', 'theirs.value', 'version.created_at as since'])
    .select(
      sql<Date | null>`(SELECT MIN(created_at) FROM expected_versions AS later
        WHERE later.expected_id = head.id AND later.version > version.version)`.as('until'),
    )
    .where('theirs.value', 'in', values)
    .where('head.id', '<>', id)
    .where('head.operation', '=', db.selectFrom('expected_payments').select('operation').where('id', '=', id))
    .$if(sources !== undefined, (query) => query.where('head.source', 'in', sources ?? []))
    .$if(merchantSeq !== undefined, (query) =>
      query.where((eb) =>
        eb.or([eb('head.merchant_seq', 'is', null), eb('head.merchant_seq', '=', merchantSeq ?? null)]),
      ),
    )
    .orderBy('version.seq', 'desc')
    .limit(STEPS_MAX)
    .execute();
  return ({ reason, reference, e2e_id: e2eId, created_at: at }) => {
    const named = rows.filter(
      // cast: only these kinds are stored
      ({ kind, value, since, until }) =>
        since <= at && (!until || until > at) && keysOf({ reference, e2eId }, kind as KeyRule).includes(value),
    );
    const names = named.map((row) => `${row.source}/${mask ? maskNumber(row) : row.number}`);
    return BY_OTHERS.includes(reason) ? [...new Set(names)] : [];
  };
}

/**
 * Reads the story of an order as the merchant sees it: without what other merchants sent, and with the notes of its own tokens alone.
 * `tokens`: their names, by id.
 */
export async function readOwnStory(
  db: Reader,
  id: string,
  scope: OrderScope,
): Promise<{ story: StoryStep[]; tokens: ReadonlyMap<string, string> }> {
  const story = await readStory(db, id, scope);
  const actors = story.flatMap(({ by }) => by ?? []);
  const rows = await db
    .selectFrom('tokens')
    .select(['id', 'name', 'merchant_seq'])
    .where('id', 'in', actors.length > 0 ? actors : [''])
    .where('merchant_seq', 'is not', null)
    .execute();
  const others = new Set(rows.flatMap((row) => (row.merchant_seq === scope.merchantSeq ? [] : row.id)));
  const tokens = new Map(rows.flatMap((row) => (others.has(row.id) ? [] : [[row.id, row.name] as const])));
  const own = story.filter(({ by }) => by === null || !others.has(by));
  return { story: own.map((step) => (step.by !== null && tokens.has(step.by) ? step : withoutNote(step))), tokens };
}

function withoutNote(step: StoryStep): StoryStep {
  return 'note' in step ? { ...step, note: null } : step;
}

/** The expected payments that a transaction is matched with, or may belong to. @param mask whether numbers may name a person. */
export async function listOrdersOf(db: Reader, transactionId: string, { mask }: { mask: boolean }) {
  const own = db.selectFrom('transactions').select('seq').where('id', '=', transactionId);
  const heads = selectOrderKeys(db).select('head.state');
  const matched = await heads
    .innerJoin('expected_matches as made', 'made.expected_seq', 'head.seq')
    .leftJoin('expected_matches as undone', 'undone.undoes_seq', 'made.seq')
    .select(['made.seq', 'made.transaction_seq', 'made.rule', 'made.amount_cents'])
    .where('made.transaction_seq', '=', own)
    .where('made.part', 'is not', null)
    .where('undone.seq', 'is', null)
    .orderBy('made.seq')
    .limit(STEPS_MAX)
    .execute();
  const candidates = await heads
    .innerJoin('expected_candidates as candidate', 'candidate.expected_seq', 'head.seq')
    .select(['candidate.rule', 'candidate.reason', 'head.amount_cents'])
    .where('candidate.transaction_seq', '=', own)
    .orderBy('head.seq')
    .limit(CANDIDATES_SHOWN_MAX)
    .execute();
  const present = ({ name, document, ...row }: Omit<(typeof matched)[number], 'seq' | 'transaction_seq'>) => ({
    ...{ id: row.id, source: row.source, state: row.state as ExpectedState },
    number: mask ? maskNumber({ number: row.number, name, document }) : row.number,
    ...{ amount: formatAmount(row.amount_cents), rule: row.rule },
  });
  return {
    expected_payments: (await readCounted(db, matched)).map(present),
    expected_candidates: candidates.map((row) => ({ ...present(row), reason: row.reason })),
  };
}

/** `shop/4711`, or the id of an order that is not known. */
export function nameOrder(keys: ReadonlyMap<string, ExpectedKey>, id: string | null): string | null {
  const key = id === null ? undefined : keys.get(id);
  return key ? `${key.source}/${key.number}` : id;
}

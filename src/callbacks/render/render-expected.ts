import { sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import { issuedDayOf } from '../../domain/calendar.ts';
import { formatAmount } from '../../domain/money.ts';
import { toSubject } from '../health/callback-sources.ts';
import { readExpectedKeys } from './read-expected-keys.ts';
import {
  countStanding,
  readExpectedMatches,
  type StoredExpectedMatch,
  selectStanding,
} from './read-expected-matches.ts';
import { EXPECTED_TYPE } from './renderable.ts';

/** The change that a callback is about, as `callbacks` has it. */
type Subject = { seq: number; transactionSeq: number | null; sequence: number };

/**
 * Renders the bodies of changes of expected payments from the row of each change, with its version and its matches as of then. Only
 * `current_state` and `disputed` are of now. Texts that were erased are null.
 * @returns bodies by the callback's row number, the same object for all merchants of a change.
 */
export async function renderExpected(db: Reader, callbacks: Subject[]): Promise<Map<number, object>> {
  if (callbacks.length === 0) return new Map();
  const changes = await readChanges(db, callbacks);
  const keys = await readExpectedKeys(db, [...new Set(changes.map((row) => row.version_seq))]);
  const matches = await readExpectedMatches(db, [...new Set(changes.map((row) => row.expected_seq))]);
  const bodies = new Map<string, object>();
  for (const row of changes) {
    const standing = selectStanding(matches.get(row.expected_seq) ?? [], row.last_match_seq ?? 0);
    const counted = await countStanding(db, standing, { at: row.at, cents: row.settled_cents + row.returned_cents });
    const related = { keys: keys.get(row.version_seq) ?? [], matches: counted };
    bodies.set(`${toSubject(row.expected_seq)} ${row.sequence}`, renderChange(row, related));
  }
  return new Map(
    callbacks.flatMap(({ seq, transactionSeq, sequence }) => {
      const body = bodies.get(`${transactionSeq} ${sequence}`);
      return body ? [[seq, body] as const] : [];
    }),
  );
}

type Change = Awaited<ReturnType<typeof readChanges>>[number];
type Related = { keys: { kind: string; value: string }[]; matches: StoredExpectedMatch[] };

function renderChange(row: Change, { keys, matches }: Related): object {
  const valuesOf = (kind: string) => keys.filter((key) => key.kind === kind).map(({ value }) => value);
  const at = row.at.toISOString();
  return {
    type: `${EXPECTED_TYPE}${row.state}`,
    timestamp: at,
    data: {
      expected_payment: {
        ...{ id: row.id, source: row.source, number: row.number, operation: row.operation },
        ...{ amount: formatAmount(row.amount_cents), currency: 'BRL', due_day: row.due_day },
        issued_day: issuedDayOf(row.issued_day, { dueDay: row.due_day, createdDay: row.created_day }),
        ...{ valid_until: row.valid_until, platform: row.platform },
        ...{ references: valuesOf('reference'), e2e_ids: valuesOf('e2e_id') },
        ...{ extra: row.extra, document: row.document, name: row.name, description: row.description },
        ...{ invoice_key: row.invoice_key, revised_at: row.revised_at?.toISOString() ?? null },
        ...{ version: row.version, created_at: row.created_at.toISOString() },
        ...{ state: row.state, reason_code: row.reason_code, state_at: at, sequence: row.sequence },
        ...{ paid: formatAmount(row.settled_cents), refunded: formatAmount(row.returned_cents) },
        difference: formatAmount(row.settled_cents - row.amount_cents),
        matches: matches.map((one) => ({
          ...{ transaction_id: one.transactionId, amount: formatAmount(one.amountCents), rule: one.rule },
        })),
        ...{ current_state: row.current_state, disputed: Number(row.disputed) === 1 },
      },
    },
  };
}

async function readChanges(db: Reader, callbacks: Subject[]) {
  const pairs = callbacks.map(({ transactionSeq, sequence }) => sql`(${toSubject(transactionSeq ?? 0)}, ${sequence})`);
  return await db
    .selectFrom('expected_changes as change')
    .innerJoin('expected_payments as head', 'head.seq', 'change.expected_seq')
    .innerJoin('expected_versions as facts', (join) =>
      join.onRef('facts.expected_id', '=', 'head.id').onRef('facts.version', '=', 'change.version'),
    )
    .leftJoin('expected_texts as texts', 'texts.version_seq', 'facts.seq')
    .select(['change.expected_seq', 'change.sequence', 'change.version', 'change.state', 'change.reason_code'])
    .select(['change.settled_cents', 'change.returned_cents', 'change.at', 'change.last_match_seq'])
    .select(['head.id', 'source', 'number', 'operation', 'head.created_at', 'created_day'])
    .select(['head.state as current_state', 'facts.seq as version_seq', 'facts.amount_cents', 'facts.platform'])
    .select(['facts.issued_day', 'facts.due_day', 'valid_until', 'invoice_key', 'facts.revised_at'])
    .select(
      sql<number>`EXISTS (SELECT 1 FROM expected_candidates
        WHERE expected_seq = head.seq AND reason = 'not_unique')`.as('disputed'),
    )
    .select(['texts.document', 'texts.name', 'texts.description', 'texts.extra'])
    .where(sql<boolean>`(change.expected_seq, change.sequence) IN (${sql.join(pairs)})`)
    .execute();
}

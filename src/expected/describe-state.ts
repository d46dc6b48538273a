import { sql } from 'kysely';
import type { Reader } from '../database/reader.ts';
import type { Day } from '../domain/calendar.ts';
import type { Message } from '../domain/errors.ts';
import { message } from '../texts/messages.ts';

type Row = { reason_code: string | null; first_lack: Day | null; last_lack: Day | null; lacks: number };

/** Returns why an expected payment has its state, without anybody's data; nothing for those that need no reason. Pure. */
export function describeState({ reason_code: code, first_lack: from, last_lack: to, lacks }: Row): Message[] {
  if (code === null) return [];
  if (from === null || to === null) return [{ name: `expected.${code}`, values: {} }];
  const days =
    lacks === 1
      ? message('expected.day_not_proven', { day: from })
      : message('expected.days_not_proven', { n: lacks, from, to });
  return code.endsWith('_candidates') ? [days, message('expected.candidates')] : [days];
}

/**
 * Describes the reason that an order shows, with the days that are stored for it: the stored reason may be that of a version before; and
 * that it has nothing by which a rule finds a payment.
 */
export async function readStateReason(
  db: Reader,
  { id, reason_code }: { id: string; reason_code: string | null },
): Promise<Message[]> {
  const stored = await db
    .selectFrom('expected_payments')
    .select(['reason_code', 'first_lack', 'last_lack', 'lacks'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const said = describeState(
    stored.reason_code === reason_code ? stored : { reason_code, first_lack: null, last_lack: null, lacks: 0 },
  );
  return (await findUnfindable({ db }, [{ id }])).has(id) ? [...said, message('expected.unfindable')] : said;
}

/** Returns the ids of those that have no payment, and nothing by which a rule finds one. */
export async function findUnfindable(
  { db }: { db: Reader },
  orders: readonly { id: string }[],
): Promise<ReadonlySet<string>> {
  if (orders.length === 0) return new Set();
  const found = await db
    .selectFrom('expected_payments as head')
    .innerJoin('expected_versions as version', 'version.seq', 'head.version_seq')
    .select('head.id')
    .where(
      sql<boolean>`is_cancelled = 0 AND parts_settled = 0 AND returned_cents = 0 AND version.invoice_key IS NULL
        AND head.extra_hash IS NULL AND head.document_hash IS NULL
        AND NOT EXISTS (SELECT 1 FROM expected_keys WHERE expected_keys.version_seq = head.version_seq)`,
    )
    .where(
      'head.id',
      'in',
      orders.map(({ id }) => id),
    )
    .execute();
  return new Set(found.map(({ id }) => id));
}

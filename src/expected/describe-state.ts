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
  const { isUnfindable, ...stored } = await db
    .selectFrom('expected_payments as head')
    .innerJoin('expected_versions as version', 'version.seq', 'head.version_seq')
    .select(['reason_code', 'first_lack', 'last_lack', 'lacks'])
    .select(
      sql<number>`is_cancelled = 0 AND parts_settled = 0 AND returned_cents = 0 AND version.invoice_key IS NULL
        AND head.extra_hash IS NULL AND head.document_hash IS NULL
        AND NOT EXISTS (SELECT 1 FROM expected_keys WHERE expected_keys.version_seq = head.version_seq)`.as(
        'isUnfindable',
      ),
    )
    .where('head.id', '=', id)
    .executeTakeFirstOrThrow();
  const said = describeState(
    stored.reason_code === reason_code ? stored : { reason_code, first_lack: null, last_lack: null, lacks: 0 },
  );
  return Number(isUnfindable) === 1 ? [...said, message('expected.unfindable')] : said;
}

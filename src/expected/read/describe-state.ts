import { type SqlBool, sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import type { Day } from '../../domain/calendar.ts';
import type { Message } from '../../domain/errors.ts';
import { message } from '../../texts/messages.ts';
import type { GivenFacts } from '../expected-fields.ts';

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
 * The reason that an order shows where no payment can be found for it: in the place of a proof that none came, which proves nothing of it.
 * @param blind as `findUnfindable` returns it.
 */
export function withUnfindable(
  { state, reason_code: code }: { state: string; reason_code: string | null },
  said: Message[],
  blind: Message[] = [],
): { said: Message[]; code: string | null } {
  const [first] = blind;
  const isWhole = first !== undefined && (state === 'unpaid' || code === null);
  return {
    said: state === 'unpaid' && first ? blind : [...said, ...blind],
    code: isWhole ? first.name.replace('expected.', '') : code,
  };
}

/** Whether facts have something by which a rule finds a payment. */
export function hasKey({ references, e2e_ids, extra, document, invoice_key }: GivenFacts): boolean {
  return references.length + e2e_ids.length > 0 || (extra ?? document ?? invoice_key) !== null;
}

/**
 * Describes the reason that an order shows, with the days that are stored for it: the stored reason may be that of a version before; and
 * why no payment can be found for it, in the place of a proof that none came.
 */
export async function readStateReason(
  db: Reader,
  {
    id,
    state,
    reason_code,
    unfindable,
  }: { id: string; state: string; reason_code: string | null; unfindable: boolean },
): Promise<Message[]> {
  const blind = (unfindable && (await findUnfindable({ db }, [{ id }])).get(id)) || [];
  const isBlind = blind.some(({ name }) => name === `expected.${reason_code}`);
  const stored = await db
    .selectFrom('expected_payments')
    .select(['reason_code', 'first_lack', 'last_lack', 'lacks'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const said = describeState(
    stored.reason_code === reason_code
      ? stored
      : { reason_code: isBlind ? null : reason_code, first_lack: null, last_lack: null, lacks: 0 },
  );
  return withUnfindable({ state, reason_code }, said, blind).said;
}

/** Whether an expected payment (`head`) has nothing by which a rule finds a payment. */
export const IS_KEYLESS = sql<SqlBool>`(head.extra_hash IS NULL AND head.document_hash IS NULL
  AND NOT EXISTS (SELECT 1 FROM expected_keys WHERE expected_keys.version_seq = head.version_seq)
  AND NOT EXISTS (SELECT 1 FROM expected_versions WHERE seq = head.version_seq AND invoice_key IS NOT NULL))`;
/** Whether it names a platform that no transaction shows. */
export const IS_UNSEEN = sql<SqlBool>`(head.platform IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM transactions WHERE transactions.platform = head.platform))`;

/** Returns by their ids those that have no payment, and nothing by which a rule finds one, or a platform that no transaction shows; each with why. */
export async function findUnfindable(
  { db }: { db: Reader },
  orders: readonly { id: string }[],
): Promise<ReadonlyMap<string, Message[]>> {
  if (orders.length === 0) return new Map();
  const found = await db
    .selectFrom('expected_payments as head')
    .select(['head.id', IS_KEYLESS.as('keyless'), IS_UNSEEN.as('unseen')])
    .where(sql<boolean>`is_cancelled = 0 AND parts_settled = 0 AND returned_cents = 0`)
    .where(
      'head.id',
      'in',
      orders.map(({ id }) => id),
    )
    .execute();
  const all = found.map(({ id, keyless, unseen }): [string, Message[]] => [
    id,
    [
      ...(Number(keyless) === 1 ? [message('expected.unfindable')] : []),
      ...(Number(unseen) === 1 ? [message('expected.platform_unseen')] : []),
    ],
  ]);
  return new Map(all.filter(([, said]) => said.length > 0));
}

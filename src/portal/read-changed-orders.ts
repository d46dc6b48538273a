/** The orders that changes at a merchant are about. */
import type { Reader } from '../database/reader.ts';
import { formatAmount } from '../domain/money.ts';

/** A row of the audit. @template Action names of actions. */
export type ChangeRow<Action extends string = string> = {
  seq: number;
  id: string;
  at: Date;
  actor: string;
  action: Action;
  target: string;
  detail: string | null;
};

/** The JSON of a detail, perhaps after the word of where it came from; null where an earlier version wrote none. */
export function parseDetail(detail: string | null): unknown {
  const start = detail?.indexOf('{') ?? -1;
  return detail !== null && start >= 0 ? JSON.parse(detail.slice(start)) : null;
}

type Orders = Awaited<ReturnType<typeof readOrders>>;

/** Reads the keys of the orders that changes are about, what the merchant's tokens sent of them, and why they reopened them. */
export async function readOrders(db: Reader, rows: ChangeRow[], own: ReadonlySet<string>) {
  const ids = rows.flatMap(({ target }) => (target.startsWith('ep_') ? target : []));
  if (ids.length === 0) return { keys: new Map(), versions: [], notes: [] };
  const keys = await db
    .selectFrom('expected_payments')
    .select(['id', 'source', 'number'])
    .where('id', 'in', ids)
    .execute();
  const versions = await db
    .selectFrom('expected_versions as sent')
    .leftJoin('expected_versions as before', (join) =>
      join
        .onRef('before.expected_id', '=', 'sent.expected_id')
        .on((eb) => eb('before.version', '=', eb('sent.version', '-', 1))),
    )
    .select(['sent.expected_id as id', 'sent.version', 'sent.actor', 'sent.created_at', 'sent.amount_cents'])
    .select(['before.amount_cents as old_cents', 'before.actor as old_actor'])
    .where('sent.expected_id', 'in', ids)
    .where('sent.actor', 'in', [...own])
    .orderBy('sent.version', 'desc')
    .execute();
  const notes = await db
    .selectFrom('expected_cancellations as one')
    .innerJoin('expected_payments as head', 'head.seq', 'one.expected_seq')
    .innerJoin('expected_notes', 'expected_notes.cancellation_seq', 'one.seq')
    .select(['head.id', 'one.actor', 'one.created_at', 'note'])
    .where('head.id', 'in', ids)
    .where('one.actor', 'in', [...own])
    .orderBy('one.seq', 'desc')
    .execute();
  return { keys: new Map(keys.map(({ id, ...key }) => [id, key] as const)), versions, notes };
}

/** Presents what a change did to an order. @param own the names of the merchant's tokens. */
export function presentOrder(
  { action, actor, target, at, detail, parts }: ChangeRow & { parts: ChangeRow[] },
  orders: Orders,
  own: ReadonlyMap<string, string>,
) {
  // the change and its audit row are one transaction: the newest that was made before the row
  const isOf = (one: { id: string; actor: string; created_at: Date }) =>
    one.id === target && one.actor === actor && one.created_at <= at;
  const sent = action === 'expected.put' ? orders.versions.find(isOf) : undefined;
  const mayShowOld = sent && sent.old_cents !== null && own.has(sent.old_actor ?? '');
  const isMany = action === 'expected.put' || action === 'callbacks.replayed';
  const counts = [detail, ...parts.map((one) => one.detail)].flatMap(
    (one) => (isMany ? (parseDetail(one) as { count: number } | null)?.count : undefined) ?? [],
  );
  return {
    ...{ source: orders.keys.get(target)?.source ?? null, number: orders.keys.get(target)?.number ?? null },
    version: sent?.version ?? null,
    amount: sent ? formatAmount(sent.amount_cents) : null,
    old_amount: mayShowOld ? formatAmount(sent.old_cents ?? 0n) : null,
    count: counts.length === 0 ? null : counts.reduce((sum, count) => sum + count),
    note: action === 'expected.reopen' ? (orders.notes.find(isOf)?.note ?? null) : null,
  };
}

/**
 * The changes at a merchant, as its portal shows them: what its tokens did, and what operators and mailed links did to it. Rows are
 * the audit's, which names operators: a merchant reads only that they were operators. Row numbers are left out: they would
 * show how many changes others made.
 */
import { sql } from 'kysely';
import type { Reader } from '../database/reader.ts';
import { formatAmount } from '../domain/money.ts';
import type { FilterSummary } from '../merchants/match-filter.ts';
import { refuseField } from '../texts/refuse.ts';
import { ADDRESS_DECISIONS, ADDRESS_KINDS, type AddressKind } from './address-changes.ts';

export const OWN_ACTIONS = [
  ...(['merchant.added', 'merchant.changed', 'merchant.filter_chosen', 'merchant.secret_rotated'] as const),
  ...(['merchant.address_asked', 'merchant.address_withdrawn', 'merchant.address_decided'] as const),
  ...(['merchant.address_agreed', 'merchant.address_changed', 'merchant.address_refused'] as const),
  'merchant.address_unanswered',
  ...(['merchant.paused', 'merchant.enabled', 'merchant.tested', 'callback.redelivered'] as const),
  ...(['callbacks.replayed', 'merchant.pull_token_given', 'merchant.pull_token_revoked'] as const),
  ...(['expected.put', 'expected.cancel', 'expected.reopen', 'portal.login'] as const),
] as const;
export type OwnAction = (typeof OWN_ACTIONS)[number];
/** Words of a change's detail that say what it did. */
export const ADDRESS_EFFECTS = [...ADDRESS_DECISIONS, 'unconfirmed', 'removed'] as const;
const MAILED_LINK = 'mailed-link';
/** Rows beyond a page: a replay is recorded in parts of 1,000 callbacks, and shown as one change. */
const PARTS_MAX = 200;

type Row = {
  seq: number;
  id: string;
  at: Date;
  actor: string;
  action: OwnAction;
  target: string;
  detail: string | null;
};
export type OwnChange = Awaited<ReturnType<typeof readOwnHistory>>['changes'][number];

/**
 * Returns a page of changes, the newest first. Of each token and action the newest ones are read by an index, however many there are.
 * @param page.after the id of the change that the page before ended with.
 * @throws ConfereError `invalid_request` for a cursor that is no change of the merchant.
 */
export async function readOwnHistory(
  db: Reader,
  merchant: { seq: number; id: string },
  { action, limit, after }: { action?: OwnAction | undefined; limit: number; after: string | undefined },
) {
  const tokens = await db
    .selectFrom('tokens')
    .select(['id', 'name'])
    .where('merchant_seq', '=', merchant.seq)
    .execute();
  const own = tokens.map(({ id }) => id);
  const asked = await db
    .selectFrom('audit')
    .select('target')
    .distinct()
    .where('actor', 'in', own.length > 0 ? own : [''])
    .where('action', '=', 'merchant.address_asked')
    .execute();
  const from = after === undefined ? undefined : await findCursor(db, after, { own, merchant });
  const older = from ? sql`AND (at < ${from.at} OR (at = ${from.at} AND seq < ${from.seq}))` : sql``;
  const actions = action === undefined ? OWN_ACTIONS : [action];
  const rowsMax = limit + PARTS_MAX;
  const newest = (condition: ReturnType<typeof sql>) =>
    sql`(SELECT seq, id, at, actor, action, target, detail FROM audit WHERE ${condition} AND id IS NOT NULL ${older}
      ORDER BY at DESC, seq DESC LIMIT ${sql.lit(rowsMax)})`;
  const onTarget = (targets: string[]) =>
    targets.length === 0 ? [] : [newest(sql`target IN (${sql.join(targets)}) AND action IN (${sql.join(actions)})`)];
  const selects = [
    ...own.flatMap((actor) => actions.map((one) => newest(sql`actor = ${actor} AND action = ${one}`))),
    ...onTarget([merchant.id]),
    ...onTarget(asked.map(({ target }) => target)),
  ];
  const { rows } = await sql<Row>`SELECT * FROM (${sql.join(selects, sql` UNION `)}) changes
    ORDER BY at DESC, seq DESC LIMIT ${sql.lit(rowsMax)}`.execute(db);
  const replays = groupReplays(rows);
  const shown = replays.slice(0, limit).flatMap(([row, ...parts]) => (row ? [{ ...row, parts }] : []));
  const names = new Map(tokens.map(({ id, name }) => [id, name]));
  const about = await readAbout(db, merchant.seq, shown);
  const orders = await readOrders(db, shown, new Set(own));
  return {
    changes: shown.map((row) => ({
      ...{ id: row.id, at: row.at.toISOString(), action: row.action },
      by: names.has(row.actor)
        ? ('token' as const)
        : row.actor === MAILED_LINK
          ? ('mailed_link' as const)
          : ('operators' as const),
      token_name: names.get(row.actor) ?? null,
      ...presentAbout(row, about),
      ...presentOrder(row, orders, names),
    })),
    next: replays.length > limit || rows.length === rowsMax ? replays.slice(0, limit).at(-1)?.at(-1)?.id : undefined,
  };
}

/** Groups the parts of each replay, the newest first. */
function groupReplays(rows: Row[]): Row[][] {
  const groups: Row[][] = [];
  for (const row of rows) {
    const last = groups.at(-1);
    const id = replayOf(row);
    if (id !== undefined && last?.[0] && replayOf(last[0]) === id) last.push(row);
    else groups.push([row]);
  }
  return groups;
}

function replayOf({ action, detail }: Row): string | undefined {
  return action === 'callbacks.replayed' ? (parseDetail(detail) as { replay?: string } | null)?.replay : undefined;
}

async function findCursor(db: Reader, id: string, { own, merchant }: { own: string[]; merchant: { id: string } }) {
  const row = await db
    .selectFrom('audit')
    .select(['seq', 'at', 'actor', 'target'])
    .where('id', '=', id)
    .executeTakeFirst();
  const isOwn = row && (own.includes(row.actor) || row.target === merchant.id || row.target.startsWith('mac_'));
  if (!isOwn) throw refuseField('cursor', 'cursor_unknown');
  return row;
}

type About = {
  addresses: Map<string, { kind: string; value: string | null; old_value: string | null }>;
  callbacks: Map<string, string>;
};

/** Reads the addresses, while they are kept, and the webhook-ids that changes are about. */
async function readAbout(db: Reader, merchantSeq: number, rows: Row[]): Promise<About> {
  const targets = rows.map(({ target }) => target);
  const seqs = targets.flatMap((one) => (one.startsWith('cb_') ? Number(one.slice('cb_'.length)) : []));
  const addresses = await db
    .selectFrom('merchant_address_changes')
    .select(['id', 'kind', 'value', 'old_value'])
    .where('merchant_seq', '=', merchantSeq)
    .where('id', 'in', targets.length > 0 ? targets : [''])
    .execute();
  const callbacks = await db
    .selectFrom('callbacks')
    .select(['seq', 'webhook_id'])
    .where('merchant_seq', '=', merchantSeq)
    .where('seq', 'in', seqs.length > 0 ? seqs : [0])
    .execute();
  return {
    addresses: new Map(addresses.map(({ id, ...one }) => [id, one])),
    callbacks: new Map(callbacks.map(({ seq, webhook_id }) => [`cb_${seq}`, webhook_id])),
  };
}

function presentAbout({ action, target, detail }: Row, { addresses, callbacks }: About) {
  const address = addresses.get(target);
  const words = action === 'merchant.filter_chosen' ? [] : (detail ?? '').split(' ');
  return {
    /** The address of a change, while it is kept. */
    kind: ADDRESS_KINDS.find((kind: AddressKind) => words.includes(kind) || kind === address?.kind) ?? null,
    effects: ADDRESS_EFFECTS.filter((effect) => words.includes(effect)),
    types: action === 'merchant.tested' ? ((parseDetail(detail) as { types: string[] } | null)?.types ?? null) : null,
    ...{ value: address?.value ?? readUnanswered(action, words), old_value: address?.old_value ?? null },
    fields: action === 'merchant.changed' ? readFields(detail ?? '') : [],
    range: action === 'callbacks.replayed' ? readRange(detail) : null,
    filter: action === 'merchant.filter_chosen' ? (parseDetail(detail) as FilterChange | null) : null,
    expected_payment_id: target.startsWith('ep_') ? target : null,
    callback: callbacks.get(target) ?? null,
  };
}

/** The host of an address that did not answer; earlier versions wrote none. */
function readUnanswered(action: OwnAction, words: string[]): string | null {
  const last = words.at(-1) ?? '';
  return action !== 'merchant.address_unanswered' || ADDRESS_KINDS.some((kind) => kind === last) ? null : last;
}

/** Names of the fields that operators changed; earlier versions wrote none for a change in the console. */
export function readFields(detail: string): string[] {
  return detail
    .replace(/^console ?/, '')
    .split(', ')
    .filter((name) => name !== '');
}

function readRange(detail: string | null) {
  const given = parseDetail(detail) as { from: string; to: string } | null;
  return given && { from: given.from, to: given.to };
}

type FilterChange = { before: FilterSummary; after: FilterSummary };

/** The JSON of a detail, perhaps after the word of where it came from; null where an earlier version wrote none. */
function parseDetail(detail: string | null): unknown {
  const start = detail?.indexOf('{') ?? -1;
  return detail !== null && start >= 0 ? JSON.parse(detail.slice(start)) : null;
}

type Orders = Awaited<ReturnType<typeof readOrders>>;

/** Reads the keys of the orders that changes are about, what the merchant's tokens sent of them, and why they reopened them. */
async function readOrders(db: Reader, rows: Row[], own: ReadonlySet<string>) {
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

function presentOrder(
  { action, actor, target, at, detail, parts }: Row & { parts: Row[] },
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

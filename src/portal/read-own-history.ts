/**
 * The changes at a merchant, as its portal shows them: what its tokens did, and what operators, mailed links and its own failures did to it. Rows are
 * the audit's, which names operators: a merchant reads only that they were operators. Row numbers are left out: they would
 * show how many changes others made.
 */
import { sql } from 'kysely';
import { SYSTEM_ACTOR } from '../access/audit.ts';
import type { REPLAYED_BY } from '../callbacks/manage/replay.ts';
import type { Reader } from '../database/reader.ts';
import type { Stop } from '../merchants/change-merchants.ts';
import { type FilterSummary, listFilter, parseFilter } from '../merchants/match-filter.ts';
import { CHANGE_ID } from '../merchants/note-addresses.ts';
import { refuseField } from '../texts/refuse.ts';
import { ADDRESS_DECISIONS, ADDRESS_KINDS, type AddressKind } from './address-changes.ts';
import { type ChangeRow, parseDetail, presentOrder, readOrders } from './read-changed-orders.ts';

export const OWN_ACTIONS = [
  ...(['merchant.added', 'merchant.changed', 'merchant.filter_chosen', 'merchant.secret_rotated'] as const),
  ...(['merchant.address_asked', 'merchant.address_withdrawn', 'merchant.address_decided'] as const),
  ...(['merchant.address_agreed', 'merchant.address_changed', 'merchant.address_refused'] as const),
  ...(['merchant.address_unanswered', 'merchant.disabled'] as const),
  ...(['merchant.breaker_opened', 'merchant.breaker_closed'] as const),
  ...(['merchant.paused', 'merchant.enabled', 'merchant.tested', 'callback.redelivered'] as const),
  ...(['callbacks.replayed', 'merchant.pull_token_given', 'merchant.pull_token_revoked'] as const),
  ...(['expected.put', 'expected.cancel', 'expected.reopen', 'portal.login'] as const),
] as const;
export type OwnAction = (typeof OWN_ACTIONS)[number];
/** Words of a change's detail that say what it did. */
export const ADDRESS_EFFECTS = [...ADDRESS_DECISIONS, 'unconfirmed', 'at_once', 'removed'] as const;
export type AddressEffect = (typeof ADDRESS_EFFECTS)[number];
/** Why failures disabled it. */
export const DISABLED_FOR = ['gone', 'failing'] as const;
/** The kind of a noted filter. */
const FILTER = 'filter';
const MAILED_LINK = 'mailed-link';
/** Rows beyond a page: a replay is recorded in parts of 1,000 callbacks, and shown as one change. */
const PARTS_MAX = 200;

type Change = ChangeRow<OwnAction>;

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
  const { rows } = await sql<Change>`SELECT * FROM (${sql.join(selects, sql` UNION `)}) changes
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
          : row.actor === SYSTEM_ACTOR
            ? ('confere' as const)
            : ('operators' as const),
      token_name: names.get(row.actor) ?? null,
      ...presentAbout(row, about),
      ...presentOrder(row, orders, names),
    })),
    next: replays.length > limit || rows.length === rowsMax ? replays.slice(0, limit).at(-1)?.at(-1)?.id : undefined,
  };
}

/** Groups the parts of each replay, the newest first. */
function groupReplays(rows: Change[]): Change[][] {
  const groups: Change[][] = [];
  for (const row of rows) {
    const last = groups.at(-1);
    const id = replayOf(row);
    if (id !== undefined && last?.[0] && replayOf(last[0]) === id) last.push(row);
    else groups.push([row]);
  }
  return groups;
}

function replayOf({ action, detail }: Change): string | undefined {
  return action === 'callbacks.replayed' ? (parseDetail(detail) as { replay?: string } | null)?.replay : undefined;
}

async function findCursor(db: Reader, id: string, { own, merchant }: { own: string[]; merchant: { id: string } }) {
  const row = await db
    .selectFrom('audit')
    .select(['seq', 'at', 'actor', 'target'])
    .where('id', '=', id)
    .executeTakeFirst();
  const isOwn = row && (own.includes(row.actor) || row.target === merchant.id || row.target.startsWith(CHANGE_ID));
  if (!isOwn) throw refuseField('cursor', 'cursor_unknown');
  return row;
}

type About = {
  addresses: Map<string, { kind: string; value: string | null; old_value: string | null }>;
  callbacks: Map<string, string>;
};

/** Reads the addresses, while they are kept, and the webhook-ids that changes are about. */
async function readAbout(db: Reader, merchantSeq: number, rows: Change[]): Promise<About> {
  const targets = rows.flatMap((row) => [row.target, ...readNoted(row.detail), ...readNotedFilter(row)]);
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

function presentAbout(row: Change, { addresses, callbacks }: About) {
  const { action, target, detail } = row;
  const address = addresses.get(target);
  const ids = action === 'merchant.changed' ? readNoted(detail) : readNotedFilter(row);
  const noted = ids.flatMap((id) => addresses.get(id) ?? []);
  const { before, after } = (action === 'merchant.filter_chosen' && (parseDetail(detail) as ChosenFilter | null)) || {};
  const chosen = before && after ? { before, after } : null;
  const words = action === 'merchant.filter_chosen' ? [] : (detail ?? '').split(' ');
  return {
    /** The address of a change, while it is kept. */
    kind: ADDRESS_KINDS.find((kind: AddressKind) => words.includes(kind) || kind === address?.kind) ?? null,
    effects: ADDRESS_EFFECTS.filter((effect) => words.includes(effect)),
    types: action === 'merchant.tested' ? ((parseDetail(detail) as { types: string[] } | null)?.types ?? null) : null,
    ...{ value: address?.value ?? readUnanswered(action, words), old_value: address?.old_value ?? null },
    fields: action === 'merchant.changed' ? readFields(detail ?? '') : [],
    addresses: noted.filter(({ kind }) => kind !== FILTER),
    range: action === 'callbacks.replayed' ? readRange(detail) : null,
    filter: readFilterChange(noted) ?? chosen,
    expected_payment_id: target.startsWith('ep_') ? target : null,
    callback: callbacks.get(target) ?? null,
    was: action === 'merchant.enabled' ? ((parseDetail(detail) as { was: Stop } | null)?.was ?? null) : null,
    disabled_for: action === 'merchant.disabled' ? (DISABLED_FOR.find((one) => one === detail) ?? null) : null,
  };
}

/** The id of the filters before and after a change by a token; earlier versions noted none. */
function readNotedFilter({ action, detail }: Change): string[] {
  const chosen = action === 'merchant.filter_chosen' ? (parseDetail(detail) as ChosenFilter | null) : null;
  return chosen?.noted === undefined ? [] : [chosen.noted];
}

/** A filter before and after, with all values, while they are kept. */
function readFilterChange(noted: { kind: string; value: string | null; old_value: string | null }[]) {
  const { value, old_value: old } = noted.find(({ kind }) => kind === FILTER) ?? {};
  return value && old ? { before: listFilter(parseFilter(old)), after: listFilter(parseFilter(value)) } : undefined;
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
    .filter((name) => name !== '' && !name.startsWith(CHANGE_ID));
}

/** The ids of the addresses that operators changed; earlier versions noted none. */
export function readNoted(detail: string | null): string[] {
  return (detail ?? '').split(/[ ,]+/).filter((one) => one.startsWith(CHANGE_ID));
}

function readRange(detail: string | null) {
  const given = parseDetail(detail) as {
    from: string;
    to: string;
    by?: (typeof REPLAYED_BY)[number];
    tests?: 'only';
  } | null;
  // before 0.3.0 it said neither
  return given && { from: given.from, to: given.to, by: given.by ?? 'created', tests: given.tests === 'only' };
}

type ChosenFilter = { before: FilterSummary; after: FilterSummary; noted?: string };

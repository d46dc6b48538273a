/**
 * The whole address that each attempt of a callback was sent to, for its owner. An attempt stores a host at most: a path may hold a
 * secret. The address is the merchant's of now where the audit has no change of it since, else the one that the next change
 * replaced, while that change is kept: a week. Where neither says it, it is unknown.
 */
import { sql } from 'kysely';
import { readHeaders } from '../callbacks/deliver/attempt-headers.ts';
import { TEST_SOURCE } from '../callbacks/health/callback-sources.ts';
import type { AttemptRow } from '../callbacks/manage/read-callbacks.ts';
import { LEASE_MS } from '../callbacks/queue/claim-callbacks.ts';
import type { Reader } from '../database/reader.ts';
import type { MerchantRow } from '../merchants/read-merchants.ts';
import { type AddressEffect, readFields, readNoted } from './read-own-history.ts';

/** Classes of attempts that sent nothing. */
const UNSENT: readonly (string | null)[] = ['not_renderable', 'no_provider_body'];

const CHANGES = ['merchant.changed', ...['asked', 'decided', 'changed'].map((one) => `merchant.address_${one}`)];

/** Effects of a change that counts. */
const COUNTS = ['confirm', 'unconfirmed', 'at_once'] as const satisfies readonly AddressEffect[];

type Row = { at: Date; action: string; target: string; detail: string | null };
/** `old` undefined: it is not known. */
type Change = { at: Date; kind: 'url' | 'test_url'; old: string | null | undefined };

/** @returns an address for each attempt; undefined where it is unknown, null where nothing was sent. */
export async function readAttemptAddresses(
  db: Reader,
  merchant: MerchantRow,
  { attempts, row: { source } }: { attempts: readonly AttemptRow[]; row: { source: string } },
): Promise<(string | null | undefined)[]> {
  const isTest = source === TEST_SOURCE;
  const changes = attempts.length === 0 ? [] : await readChanges(db, merchant);
  const addressAt = (kind: Change['kind'], at: Date) => {
    const own = changes.filter((one) => one.kind === kind);
    // an attempt may have read the address that long before it began
    const next = own.find((one) => one.at.getTime() > at.getTime() - LEASE_MS);
    if (!next) return merchant[kind];
    return next.at > at ? next.old : undefined;
  };
  const find = (at: Date, host: string | undefined) => {
    const test = isTest ? addressAt('test_url', at) : null;
    if (test !== null) return test;
    if (isTest || host === undefined) return addressAt('url', at);
    // it went to the URL before the last change
    return changes.findLast((one) => one.kind === 'url' && one.at <= at)?.old;
  };
  return attempts.map((row) => {
    const { host } = readHeaders(row);
    if (UNSENT.includes(row.error_class)) return null;
    const url = find(row.started_at, host);
    return url && (host === undefined || new URL(url).host === host) ? url : undefined;
  });
}

/** Reads the changes of both addresses, the oldest first: by operators, and those that the merchant asked for and that count. */
async function readChanges(db: Reader, merchant: MerchantRow): Promise<Change[]> {
  const asked = await db
    .selectFrom('audit')
    .innerJoin('tokens', 'tokens.id', 'audit.actor')
    .select('target')
    .distinct()
    .where('merchant_seq', '=', merchant.seq)
    .where('action', '=', 'merchant.address_asked')
    .execute();
  const targets = [merchant.id, ...asked.map(({ target }) => target)];
  const { rows } = await sql<Row>`SELECT at, action, target, detail FROM audit
    WHERE target IN (${sql.join(targets)}) AND action IN (${sql.join(CHANGES)}) ORDER BY at, seq`.execute(db);
  const kept = await db
    .selectFrom('merchant_address_changes')
    .select(['id', 'kind', 'old_value'])
    .where('merchant_seq', '=', merchant.seq)
    .execute();
  const olds = new Map(kept.map((row) => [row.id, row]));
  return rows.flatMap(({ at, action, target, detail }): Change[] => {
    if (action === 'merchant.changed') {
      const fields = readFields(detail ?? '');
      const noted = readNoted(detail).flatMap((id) => olds.get(id) ?? []);
      const old = noted.find((one) => one.kind === 'url')?.old_value;
      return fields.length === 0 || fields.includes('url') ? [{ at, kind: 'url', old }] : [];
    }
    const words = (detail ?? '').split(' ');
    const counts = action === 'merchant.address_changed' || COUNTS.some((effect) => words.includes(effect));
    const kind = (['url', 'test_url'] as const).find((one) => words.includes(one));
    return counts && kind ? [{ at, kind, old: olds.get(target)?.old_value }] : [];
  });
}

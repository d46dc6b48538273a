import { createHash } from 'node:crypto';
import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { Database } from '../../database/tables.ts';
import { append, splitList } from '../../domain/lists.ts';
import { KEY_RULES, type KeyRule, keysOf } from '../decide/facts.ts';
import type { LoadedExpected } from './lock-expected.ts';
import type { LoadedPayment } from './read-payments.ts';
import { type Scopes, sees } from './read-scopes.ts';

/** A value that more payments, or more orders of one sender, share identifies none of these, and no more of them are loaded. */
const GROUP_MAX = 200;
const SELECTS_AT_ONCE = 100;

export type Hashes = { extraHash: string | null; documentHash: string | null; amountCents: bigint };

const PAYMENTS_BY: Record<KeyRule, (value: string) => RawBuilder<unknown>> = {
  reference: (value) => sql`SELECT seq FROM transactions WHERE reference = ${value}`,
  e2e_id: (value) => sql`SELECT seq FROM transactions WHERE e2e_id = ${value}`,
  invoice: (value) => sql`(${PAYMENTS_BY.e2e_id(value)}) UNION (${PAYMENTS_BY.reference(value)})`,
};

/** Transactions that an expected payment may be. */
export async function findPayments(
  trx: Transaction<Database>,
  heads: LoadedExpected[],
  common: Set<string>,
): Promise<number[]> {
  const selects = new Map<string, RawBuilder<unknown>>();
  const add = (value: string, rows: RawBuilder<unknown>): void => void selects.set(value, rows);
  for (const { head, facts, extra } of heads) {
    for (const rule of KEY_RULES) for (const one of facts.keys[rule]) add(`${rule} ${one}`, PAYMENTS_BY[rule](one));
    if (head.extra_hash) {
      const hashes = [head.extra_hash, ...(extra === null ? [] : [createHash('sha256').update(extra).digest()])];
      add(extraKey(facts), sql`SELECT seq FROM transactions WHERE extra_hash IN (${sql.join(hashes)})`);
    }
    if (head.document_hash)
      add(
        documentKey(facts),
        sql`SELECT t.seq FROM parties p JOIN transactions t ON t.seq = p.transaction_seq
        WHERE p.document_hash = ${head.document_hash} AND t.amount_cents = ${head.amount_cents}`,
      );
  }
  return await findMembers(trx, [...selects], common);
}

/**
 * Expected payments that a payment may be: of merchants, only of those that see it. No sender makes a value common but among its own: a
 * leaked token would else end the matching of others.
 */
export async function findExpected(
  trx: Transaction<Database>,
  payments: LoadedPayment[],
  { common, scopes }: { common: Set<string>; scopes: Scopes },
): Promise<number[]> {
  const selects = new Map<string, [string, RawBuilder<unknown>]>();
  for (const payment of payments) {
    const { facts } = payment;
    if (facts.standing === 'none') continue;
    const blind = [...scopes.keys()].filter((seq) => !sees(scopes, seq, payment));
    const add = (value: string, rows: RawBuilder<unknown>): void => {
      const seen = sql`${rows} AND (merchant_seq IS NULL OR merchant_seq NOT IN (${sql.join(blind)}))`;
      selects.set(`${blind.join()} ${value}`, [value, blind.length > 0 ? seen : rows]);
    };
    for (const rule of KEY_RULES)
      for (const one of keysOf(facts, rule))
        add(
          `${rule} ${one}`,
          sql`SELECT e.seq, e.merchant_seq FROM expected_keys k JOIN expected_payments e ON e.version_seq = k.version_seq
            WHERE k.value = ${one} AND k.kind = ${rule}`,
        );
    if (facts.extraHash !== null)
      add(
        extraKey(facts),
        sql`SELECT seq, merchant_seq FROM expected_payments WHERE extra_hash = ${Buffer.from(facts.extraHash, 'hex')}`,
      );
    if (facts.documentHash !== null)
      add(
        documentKey(facts),
        sql`SELECT seq, merchant_seq FROM expected_payments
          WHERE document_hash = ${Buffer.from(facts.documentHash, 'hex')} AND amount_cents = ${facts.amountCents}`,
      );
  }
  return await findMembers(trx, [...selects.values()], common, findOfSenders);
}

/** Runs a select for each value, each limited, many in one statement. @param split finds more of values that many rows have, or adds these to `common`. */
async function findMembers(
  trx: Transaction<Database>,
  selects: [string, RawBuilder<unknown>][],
  common: Set<string>,
  split = addCommon,
): Promise<number[]> {
  const found: number[] = [];
  for (const some of splitList(selects, SELECTS_AT_ONCE)) {
    const parts = some.map(([, rows]) => sql`(${rows} LIMIT ${sql.lit(GROUP_MAX + 1)})`);
    const { rows } = await sql<{ seq: number }>`${sql.join(parts, sql` UNION ALL `)}`.execute(trx);
    append(
      found,
      rows.map(({ seq }) => Number(seq)),
    );
    // else no value has too many
    if (rows.length > GROUP_MAX) append(found, await split(trx, some, common));
  }
  return found;
}

type Split = [trx: Transaction<Database>, selects: [string, RawBuilder<unknown>][], common: Set<string>];

async function addCommon(...[trx, selects, common]: Split): Promise<number[]> {
  for (const [value] of await findLarge(trx, selects)) common.add(value);
  return [];
}

/** Finds orders by values that many have, of each sender that does not itself have too many. */
async function findOfSenders(...[trx, selects, common]: Split): Promise<number[]> {
  const found: number[] = [];
  for (const [value, orders] of await findLarge(trx, selects)) {
    const { rows: senders } = await sql<{ sender: number; count: number }>`SELECT COALESCE(merchant_seq, 0) AS sender,
      COUNT(*) AS count FROM (${orders}) found GROUP BY sender`.execute(trx);
    const few = senders.filter(({ count }) => Number(count) <= GROUP_MAX).map(({ sender }) => sender);
    for (const { sender, count } of senders) if (Number(count) > GROUP_MAX) common.add(ofSender(sender, value));
    if (few.length === 0) continue;
    const { rows } = await sql<{ seq: number }>`SELECT seq FROM (${orders}) found
      WHERE COALESCE(merchant_seq, 0) IN (${sql.join(few)})`.execute(trx);
    append(
      found,
      rows.map(({ seq }) => Number(seq)),
    );
  }
  return found;
}

/** The selects that too many rows have. */
async function findLarge(...[trx, selects]: [Split[0], Split[1]]): Promise<Split[1]> {
  const parts = selects.map(
    ([, rows], index) =>
      sql`SELECT ${sql.lit(index)} AS value, COUNT(*) AS count FROM (${rows} LIMIT ${sql.lit(GROUP_MAX + 1)}) found`,
  );
  const { rows } = await sql<{ value: number; count: number }>`${sql.join(parts, sql` UNION ALL `)}`.execute(trx);
  const large = new Set(rows.filter(({ count }) => Number(count) > GROUP_MAX).map(({ value }) => Number(value)));
  return selects.filter((_, index) => large.has(index));
}

/** The name of a value among the orders of one sender. @param sender a merchant's row number; 0 or null: ours. */
export function ofSender(sender: number | null, value: string): string {
  return `${sender ?? 0} ${value}`;
}

export function extraKey({ extraHash }: Hashes): string {
  return `extra ${extraHash}`;
}

export function documentKey({ documentHash, amountCents }: Hashes): string {
  return `document ${documentHash} ${amountCents}`;
}

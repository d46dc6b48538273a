import { createHash } from 'node:crypto';
import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { Database } from '../../database/tables.ts';
import { append, splitList } from '../../domain/lists.ts';
import { KEY_RULES, type KeyRule, keysOf } from '../decide/facts.ts';
import type { LoadedExpected } from './lock-expected.ts';
import type { LoadedPayment } from './read-payments.ts';
import { type Scopes, sees } from './read-scopes.ts';

/** A value that more rows share identifies nothing: it matches nothing, and no more of its rows are loaded. */
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

/** Expected payments that a payment may be: of merchants, only of those that see it, so that no other makes its values common. */
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
          sql`SELECT e.seq FROM expected_keys k JOIN expected_payments e ON e.version_seq = k.version_seq
            WHERE k.value = ${one} AND k.kind = ${rule}`,
        );
    if (facts.extraHash !== null)
      add(
        extraKey(facts),
        sql`SELECT seq FROM expected_payments WHERE extra_hash = ${Buffer.from(facts.extraHash, 'hex')}`,
      );
    if (facts.documentHash !== null)
      add(
        documentKey(facts),
        sql`SELECT seq FROM expected_payments
          WHERE document_hash = ${Buffer.from(facts.documentHash, 'hex')} AND amount_cents = ${facts.amountCents}`,
      );
  }
  return await findMembers(trx, [...selects.values()], common);
}

/** Runs a select for each value, each limited, many in one statement. Values that too many rows have are added to `common`. */
async function findMembers(
  trx: Transaction<Database>,
  selects: [string, RawBuilder<unknown>][],
  common: Set<string>,
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
    if (rows.length > GROUP_MAX) await findCommon(trx, some, common);
  }
  return found;
}

async function findCommon(
  trx: Transaction<Database>,
  selects: [string, RawBuilder<unknown>][],
  common: Set<string>,
): Promise<void> {
  const parts = selects.map(
    ([, rows], index) =>
      sql`SELECT ${sql.lit(index)} AS value, COUNT(*) AS count FROM (${rows} LIMIT ${sql.lit(GROUP_MAX + 1)}) found`,
  );
  const { rows } = await sql<{ value: number; count: number }>`${sql.join(parts, sql` UNION ALL `)}`.execute(trx);
  for (const { value, count } of rows) if (Number(count) > GROUP_MAX) common.add(selects[Number(value)]?.[0] ?? '');
}

export function extraKey({ extraHash }: Hashes): string {
  return `extra ${extraHash}`;
}

export function documentKey({ documentHash, amountCents }: Hashes): string {
  return `document ${documentHash} ${amountCents}`;
}

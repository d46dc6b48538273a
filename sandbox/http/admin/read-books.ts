import { sql } from 'kysely';
import type { Sandbox } from '../../context.ts';
import { formatCents } from '../../domain/money.ts';
import type { Operation } from '../../domain/statuses.ts';
import { booksSchema, parseInput } from './admin-schemas.ts';

type Sums = { count: number; amount: string; commission: string };
type Moved = Sums & { day: string; operation: Operation; status: string; platform: string };

/** A day's totals of one platform, or of all (`all`), as decimal texts; `net` is the change of the balance. */
export type BooksDay = {
  day: string;
  platform: string;
  receipts: string;
  receipt_commissions: string;
  payments: string;
  payment_commissions: string;
  refunds_made: string;
  refunds_received: string;
  net: string;
  counts: { receipts: number; payments: number; refunds_made: number; refunds_received: number };
};

/**
 * Returns the sandbox's own totals over days of its wall clock, both inclusive: `days` sums the money by the day of the paid
 * or refund event, `events` counts each status by event day, `created` counts by day of creation and current status.
 */
export async function readBooks(sandbox: Sandbox, query: unknown) {
  const { from, to } = parseInput(booksSchema, query);
  const [events, created] = await Promise.all([sumEvents(sandbox, from, to), sumCreated(sandbox, from, to)]);
  const groups = new Map<string, Moved[]>();
  for (const moved of events) {
    for (const platform of [moved.platform, 'all']) {
      const key = `${moved.day} ${platform}`;
      groups.set(key, [...(groups.get(key) ?? []), moved]);
    }
  }
  const days = [...groups].map(([key, list]) => addUp(key.slice(0, 10), key.slice(11), list));
  days.sort((a, b) => (`${a.day} ${a.platform}` < `${b.day} ${b.platform}` ? -1 : 1));
  return { from, to, days, total: addUp(`${from}..${to}`, 'all', events), events, created };
}

async function sumEvents(sandbox: Sandbox, from: string, to: string): Promise<Moved[]> {
  const rows = await sandbox.db
    .selectFrom('events')
    .innerJoin('transactions', 'transactions.seq', 'events.transaction_seq')
    .select((eb) => [
      sql<string>`LEFT(events.at_wall, 10)`.as('day'),
      'operation',
      'events.status as status',
      'platform',
      eb.fn.countAll<number>().as('count'),
      eb.fn.sum<string>('amount_cents').as('amount'),
      eb.fn.sum<string>('commission_cents').as('commission'),
    ])
    .where('events.at_wall', '>=', `${from} 00:00:00`)
    .where('events.at_wall', '<=', `${to} 23:59:59`)
    .groupBy(['day', 'operation', 'events.status', 'platform'])
    .orderBy('day')
    .execute();
  return rows.map(inDecimals);
}

async function sumCreated(sandbox: Sandbox, from: string, to: string): Promise<Moved[]> {
  const rows = await sandbox.db
    .selectFrom('transactions')
    .select((eb) => [
      sql<string>`LEFT(created_wall, 10)`.as('day'),
      'operation',
      'status',
      'platform',
      eb.fn.countAll<number>().as('count'),
      eb.fn.sum<string>('amount_cents').as('amount'),
      eb.fn.sum<string>('commission_cents').as('commission'),
    ])
    .where('created_wall', '>=', `${from} 00:00:00`)
    .where('created_wall', '<=', `${to} 23:59:59`)
    .groupBy(['day', 'operation', 'status', 'platform'])
    .orderBy('day')
    .execute();
  return rows.map(inDecimals);
}

function inDecimals<T extends Sums>(row: T): T {
  return { ...row, amount: formatCents(BigInt(row.amount)), commission: formatCents(BigInt(row.commission)) };
}

function addUp(day: string, platform: string, list: readonly Moved[]): BooksDay {
  const pick = (operation: Operation, status: string): { count: number; amount: bigint; commission: bigint } => {
    const found = list.filter((one) => one.operation === operation && one.status === status);
    return {
      count: found.reduce((sum, one) => sum + one.count, 0),
      amount: found.reduce((sum, one) => sum + cents(one.amount), 0n),
      commission: found.reduce((sum, one) => sum + cents(one.commission), 0n),
    };
  };
  const [receipts, payments] = [pick('cashin', 'paid'), pick('cashout', 'paid')];
  const [made, received] = [pick('cashin', 'refund'), pick('cashout', 'refund')];
  const net =
    receipts.amount - receipts.commission - payments.amount - payments.commission - made.amount + received.amount;
  return {
    day,
    platform,
    receipts: formatCents(receipts.amount),
    receipt_commissions: formatCents(receipts.commission),
    payments: formatCents(payments.amount),
    payment_commissions: formatCents(payments.commission),
    refunds_made: formatCents(made.amount),
    refunds_received: formatCents(received.amount),
    net: formatCents(net),
    counts: {
      receipts: receipts.count,
      payments: payments.count,
      refunds_made: made.count,
      refunds_received: received.count,
    },
  };
}

function cents(text: string): bigint {
  return BigInt(text.replace('.', ''));
}

import { isDeepStrictEqual } from 'node:util';
import { addDays, createCalendar } from '../src/domain/calendar.ts';
import { formatAmount, parseSum } from '../src/domain/money.ts';
import { readTheirs } from './compare-ledger.ts';
import type { Api } from './start-programs.ts';

const SOURCE = 'loja';
const ORDERS = 300;
const ZONE = 'America/Sao_Paulo';
const SURELY_OVER_MS = 10 * 60_000;
/** Cancels every fifth of the orders that nobody pays. */
const CANCELLED_EVERY = 5;

type Payment = {
  id: string;
  operation: string;
  status: string;
  amount: string;
  reference: string;
  document: string;
} & {
  date_created: string;
};
/** `payments`: ids of those that must be its matches. */
type Order = { facts: Record<string, unknown>; state: string; payments: string[]; isCancelled?: boolean };
type Shown = { number: string; state: string; matches: { transaction_id: string }[]; matched_to: string };

/** Orders for what the provider lists, with planted faults: by them each is known to be paid by whom, or not. */
export type PlantedOrders = { orders: Map<string, Order>; unknownPayers: number };

/**
 * Plants orders for the payments that the provider's list shows for the days before today, and sends them to Confere.
 * All were issued on `days.from` and due yesterday.
 */
export async function plantOrders(
  { app, sandbox }: { app: Api; sandbox: Api },
  days: { from: string; to: string },
): Promise<PlantedOrders> {
  const rows = await readTheirs(sandbox, { from: days.from, to: addDays(days.to, -1) });
  // cast: fields of the provider's list
  const cashins = [...rows.values()].filter((row) => row.operation === 'cashin') as unknown as Payment[];
  const planted = drawOrders(cashins);
  const facts = [...planted.orders].map(([number, order]) => ({ source: SOURCE, number, ...order.facts }));
  const term = { operation: 'cashin', issued_day: days.from, due_day: findDueDay() };
  await app.call('POST', '/expected-payments', { expected_payments: facts.map((one) => ({ ...term, ...one })) });
  for (const [number, { isCancelled }] of planted.orders)
    if (isCancelled) await app.call('DELETE', `/expected-payments/${SOURCE}/${number}`);
  return planted;
}

/** Yesterday, at the provider. What was not paid is proven by a reading after the day's end, which clocks know to some minutes. */
function findDueDay(): string {
  return addDays(createCalendar(ZONE).dayOf(new Date(Date.now() - SURELY_OVER_MS)), -1);
}

function drawOrders(cashins: Payment[]): PlantedOrders {
  const list: Order[] = [];
  const paid = cashins.filter(({ status }) => status === 'paid');
  let unknownPayers = 0;
  for (let at = 0; at + 8 <= paid.length && list.length < ORDERS / 2; at += 8) {
    const [whole, other, document, wrong, late, twice, again, unknown] = paid.slice(at, at + 8) as [
      ...[Payment, Payment, Payment, Payment, Payment, Payment, Payment, Payment],
    ];
    const least = Math.min(...[twice, again].map(({ amount }) => Number(parseSum(amount))));
    list.push(
      ...[whole, other].map((one) => ({ facts: byReference(one), state: 'paid', payments: [one.id] })),
      { facts: { amount: document.amount, document: document.document }, state: 'paid', payments: [document.id] },
      { facts: { ...byReference(wrong), amount: plusOne(wrong) }, state: 'underpaid', payments: [wrong.id] },
      { facts: byReference(late), state: 'paid_after_cancel', payments: [late.id], isCancelled: true },
      {
        facts: { references: [twice.reference, again.reference], amount: formatAmount(BigInt(least)) },
        ...{ state: 'paid_twice', payments: [twice.id, again.id] },
      },
      // its amount came from somebody else
      { facts: { amount: unknown.amount, document: whole.document }, state: 'unpaid', payments: [] },
    );
    unknownPayers++;
  }
  for (const one of cashins.filter(({ status }) => status === 'refund'))
    list.push({ facts: byReference(one), state: 'refunded', payments: [one.id] });
  for (let n = 0; list.length < ORDERS; n++) {
    const isCancelled = n % CANCELLED_EVERY === 0;
    const facts = { amount: '49.90', references: [`nobody-${n}`] };
    list.push({ facts, state: isCancelled ? 'cancelled' : 'unpaid', payments: [], isCancelled });
  }
  return { orders: new Map(list.map((order, index) => [`${1001 + index}`, order])), unknownPayers };
}

function byReference({ reference, amount }: Payment): Record<string, unknown> {
  return { references: [reference], amount };
}

function plusOne({ amount }: Payment): string {
  return formatAmount((parseSum(amount) ?? 0n) + 100n);
}

/** Compares what Confere says of each order with what was planted. @returns how many have each state, and the differences. */
export function compareOrders({ orders }: PlantedOrders, shown: Shown[]): { counts: string; differences: string[] } {
  const found = new Map(shown.map((row) => [row.number, row]));
  const differences: string[] = [];
  for (const [number, { state, payments }] of orders) {
    const row = found.get(number);
    const matches = row?.matches.map((one) => one.transaction_id).sort();
    if (row?.state !== state || !isDeepStrictEqual(matches, payments.toSorted()))
      differences.push(
        `order ${number}: ${row?.state} by ${matches?.join(', ')}, planted: ${state} by ${payments.join(', ')}`,
      );
  }
  const states = shown.map(({ state }) => state);
  const counts = [...new Set(states)].sort().map((state) => `${states.filter((one) => one === state).length} ${state}`);
  return { counts: counts.join(', '), differences };
}

/** Reads the orders. @returns undefined until all that was sent before is decided. */
export async function readOrders(app: Api, since: number): Promise<Shown[] | undefined> {
  const rows: Shown[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const query = `source=${SOURCE}&limit=200${cursor ? `&cursor=${cursor}` : ''}`;
    const answer: { expected_payments: Shown[]; next_cursor: string | null } = await app.call(
      'GET',
      `/expected-payments?${query}`,
    );
    rows.push(...answer.expected_payments);
    cursor = answer.next_cursor;
  }
  return rows.every((row) => Date.parse(row.matched_to) >= since) ? rows : undefined;
}

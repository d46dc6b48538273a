/**
 * Makes expected payments and payments with planted faults from a seed: for each expected payment what must become of it, and whose
 * each payment is.
 */
import { randomUUID } from 'node:crypto';
import { addDays, type Day } from '../../src/domain/calendar.ts';
import { completeCpf } from '../../src/domain/person/find-documents.ts';
import type { ShownTransaction } from './make-observations.ts';
import { drawFrom } from './property.ts';

export const PLANTED = [
  ...(['paid', 'paid', 'paid', 'paid', 'by_document', 'by_extra', 'unpaid', 'underpaid', 'overpaid', 'twice'] as const),
  ...([
    'refunded',
    'cancelled',
    'paid_after_cancel',
    'ambiguous',
    'pending',
    'other_operation',
    'unknown_payer',
  ] as const),
] as const;
export type Fault = (typeof PLANTED)[number];

export type PlantedOrder = {
  fault: Fault;
  number: string;
  facts: Record<string, unknown>;
  isCancelled: boolean;
  payments: ShownTransaction[];
  /** Its state once its days are proven; the ids of payments that are its matches, and of its candidates. */
  state: string;
  matches: string[];
  candidates: string[];
};

/** @param day on which all was issued and paid; it is over. */
export function makeOrders(count: number, { seed, day }: { seed: number; day: Day }): PlantedOrder[] {
  const draw = drawFrom(seed);
  return Array.from({ length: count }, (_, index) => makeOrder(index, { draw, day, seed }));
}

function makeOrder(
  index: number,
  { draw, day, seed }: { draw: (n: number) => number; day: Day; seed: number },
): PlantedOrder {
  const fault = PLANTED[draw(PLANTED.length)] ?? 'paid';
  const cents = 100 + draw(50_000);
  const [amount, less, more] = [cents, Math.max(1, cents - 1 - draw(99)), cents + 1 + draw(99)].map((one) =>
    (one / 100).toFixed(2),
  );
  const name = `${seed}-${index}`;
  // each order has a customer of its own, so that nobody else's payment fits
  const document = completeCpf(String(100_000_000 + index).slice(0, 9));
  const pay = (facts: Partial<ShownTransaction>, status = 'paid'): ShownTransaction => {
    const history =
      status === 'paid' ? ['pending', 'paid'] : status === 'refund' ? ['pending', 'paid', 'refund'] : ['pending'];
    const events = history.map((one, minute) => ({ status: one, date_created: `${day} 10:0${minute}:00` }));
    return {
      ...{ id: randomUUID(), operation: 'cashin', status, amount: amount ?? '', date_created: `${day} 10:00:00` },
      ...{ events: events.toReversed(), ...facts },
    };
  };
  const own = { reference: `ref-${name}` };
  const order = { fault, number: name, isCancelled: false, payments: [], matches: [], candidates: [] };
  const facts = {
    operation: 'cashin',
    amount,
    issued_day: day,
    due_day: day,
    references: [`ref-${name}`],
    document,
    extra: `extra-${name}`,
  };
  const expect = (state: string, payments: ShownTransaction[], isMatched = true): PlantedOrder => {
    const ids = payments.map(({ id }) => id);
    return { ...order, facts, state, payments, ...(isMatched ? { matches: ids } : { candidates: ids }) };
  };
  switch (fault) {
    case 'paid':
      return expect('paid', [pay(own)]);
    case 'by_document':
      return expect('paid', [pay({ document })]);
    case 'by_extra':
      return expect('paid', [pay({ extra: `extra-${name}` })]);
    case 'unpaid':
      return expect('unpaid', []);
    case 'underpaid':
      return expect('underpaid', [pay({ ...own, amount: less ?? '' })]);
    case 'overpaid':
      return expect('overpaid', [pay({ ...own, amount: more ?? '' })]);
    case 'twice':
      return expect('paid_twice', [pay(own), pay(own)]);
    case 'refunded':
      return expect('refunded', [pay(own, 'refund')]);
    case 'cancelled':
      return { ...expect('cancelled', []), isCancelled: true };
    case 'paid_after_cancel':
      return { ...expect('paid_after_cancel', [pay(own)]), isCancelled: true };
    case 'ambiguous':
      return expect('unpaid', [pay({ document }), pay({ document })], false);
    case 'pending':
      return expect('unpaid', [pay(own, 'pending')], false);
    case 'other_operation':
      return { ...expect('unpaid', [pay({ ...own, operation: 'cashout' })]), matches: [] };
    case 'unknown_payer':
      return {
        ...expect('unpaid', [pay({ document: completeCpf(String(900_000_000 - index).slice(0, 9)) })]),
        matches: [],
      };
  }
}

/** A day that is over and whose readings can be proven. */
export function dayOver(today: Day): Day {
  return addDays(today, -2);
}

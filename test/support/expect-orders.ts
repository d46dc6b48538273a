import { randomUUID } from 'node:crypto';
import type { Context } from '../../src/context.ts';
import { addDays } from '../../src/domain/calendar.ts';
import { expectedFactsSchema } from '../../src/expected/expected-fields.ts';
import { decideAll } from '../../src/expected/follow/follow-payments.ts';
import { putExpected } from '../../src/expected/put-expected.ts';
import { applyObservations } from '../../src/ledger/apply/apply-observations.ts';
import type { ShownTransaction } from './make-observations.ts';
import type { ConsoleEnvironment } from './open-console-environment.ts';
import { makeShownTransaction, observeNow } from './read-ledger-state.ts';

/** Expects a payment that is paid, one that nobody pays, and two that one payment fits. @returns the first one's id. */
export async function expectOrders({ context, today, paid, changed }: ConsoleEnvironment): Promise<string> {
  const facts = (amount: string, more: object = {}) =>
    expectedFactsSchema.parse({
      operation: 'cashin',
      amount,
      due_day: today,
      name: 'Maria Aparecida da Silva',
      ...more,
    });
  const arrivals = [
    { source: 'loja', number: 'pedido-maria', facts: facts('1234.56', { references: ['pedido-maria'] }) },
    { source: 'loja', number: 'pedido-2', facts: facts('19.90', { extra: paid.extra, description: 'Dois livros' }) },
    ...['pedido-3', 'pedido-4'].map((number) => ({
      ...{ source: 'loja', number },
      facts: facts(String(changed.amount), { document: '987.654.321-00', issued_day: addDays(today, -14) }),
    })),
  ];
  const [first] = await putExpected(context, { arrivals, actor: 'test' });
  await decideAll(context);
  return first?.id ?? '';
}

let count = 0;

/** Expects one payment: a receipt of 10.00 unless `facts` say otherwise. @returns its id. */
export async function expectOne(
  context: Context,
  facts: Record<string, unknown>,
  number = `p-${++count}`,
): Promise<string> {
  const given = { operation: 'cashin', amount: '10.00', due_day: '2026-11-20', issued_day: '2026-11-10', ...facts };
  const arrivals = [{ source: 'shop', number, facts: expectedFactsSchema.parse(given) }];
  const [outcome] = await putExpected(context, { arrivals, actor: 'test' });
  return outcome?.id ?? '';
}

/** Applies a payment with the history that is given. */
export async function payOne(
  context: Context,
  more: Partial<ShownTransaction>,
  history = ['pending@1', 'paid@2'],
): Promise<ShownTransaction> {
  const row = makeShownTransaction(history, { id: randomUUID(), ...more });
  await applyObservations(context, [observeNow(context, row)]);
  return row;
}

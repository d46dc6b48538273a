import { addDays } from '../../src/domain/calendar.ts';
import { expectedFactsSchema } from '../../src/expected/expected-fields.ts';
import { decideAll } from '../../src/expected/follow/follow-payments.ts';
import { putExpected } from '../../src/expected/put-expected.ts';
import type { ConsoleEnvironment } from './open-console-environment.ts';

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

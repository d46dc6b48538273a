import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectedFactsSchema } from '../../../src/expected/expected-fields.ts';
import { decideAll } from '../../../src/expected/follow/follow-payments.ts';
import { putExpected } from '../../../src/expected/put-expected.ts';
import { type ConsoleEnvironment, openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { openConsoleSession } from '../../support/open-console-session.ts';

let env: ConsoleEnvironment;
let operator: Awaited<ReturnType<typeof openConsoleSession>>;
beforeAll(async () => {
  env = await openConsoleEnvironment();
  operator = await openConsoleSession(env, 'operator');
});
afterAll(() => env[Symbol.asyncDispose]());

async function put(number: string, given: Record<string, unknown>, source = 'shop'): Promise<void> {
  const facts = expectedFactsSchema.parse({ operation: 'cashin', amount: '10.00', ...given });
  await putExpected(env.context, { arrivals: [{ source, number, facts }], actor: 'test' });
  await decideAll(env.context);
}

test('totals say apart what is to receive and what is to pay, each with its own list', async () => {
  await put('sum-1', { due_day: '2031-05-01' });
  await put('sum-2', { due_day: '2031-05-01', operation: 'cashout', amount: '4.00' });
  const list = '/expected?due_from=2031-05-01&due_to=2031-05-01';
  const { text } = await operator.get(list);
  expect(text).toContain('Em aberto a receber 1 R$ 10,00 Em aberto a pagar 1 R$ 4,00');
  const one = await operator.get(`${list}&operation=cashout`);
  expect(one.text).toContain('sum-2');
  expect(one.text).not.toContain('sum-1');
});

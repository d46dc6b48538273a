import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { expectedFactsSchema } from '../../../src/expected/expected-fields.ts';
import { decideAll } from '../../../src/expected/follow/follow-payments.ts';
import { putExpected } from '../../../src/expected/put-expected.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { countReads } from '../../support/count-reads.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { makeShownTransaction, observeNow } from '../../support/read-ledger-state.ts';

const ORDERS = 1_000;

test(`a payment beside ${ORDERS} orders of its platform reads those that it may be alone`, async () => {
  await using environment = await openEnvironment({ WEBHOOKS_SINCE: '2026-01-01T00:00:00Z' });
  const { context } = environment;
  const arrivals = Array.from({ length: ORDERS }, (_, index) => {
    const keys = { references: [`order-${index}`], platform: index % 2 === 0 ? 'p' : undefined };
    const facts = { operation: 'cashin', amount: '10.00', due_day: '2026-11-20', issued_day: '2026-11-10', ...keys };
    return { source: 'shop', number: `${index}`, facts: expectedFactsSchema.parse(facts) };
  });
  await putExpected(context, { arrivals, actor: 'test' });
  await decideAll(context);
  for (const [platform, reference] of [
    ['p', 'order-500'],
    [undefined, 'order-501'],
  ] as const) {
    const row = makeShownTransaction(['paid@1'], { id: randomUUID(), reference, ...(platform && { platform }) });
    await applyObservations(context, [observeNow(context, row)]);
    expect(await countReads(context.db, (db) => decideAll({ ...context, db }))).toBeLessThan(ORDERS / 4);
    const matched = await context.db.selectFrom('expected_matches').select('seq').execute();
    expect(matched).toHaveLength(reference === 'order-500' ? 1 : 2);
  }
});

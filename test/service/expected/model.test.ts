/**
 * Expected payments in versions, payments with their corrections, people's matches, a forgotten person and two followers in random
 * orders: after each storm the matches and states are those of the contract, read literally (test/support/reference-expected.ts).
 */
import { beforeAll, expect, test } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { leaveExpectedWork } from '../../../src/database/shared/leave-expected-work.ts';
import { transact } from '../../../src/database/transact.ts';
import { addDays } from '../../../src/domain/calendar.ts';
import { decideAll } from '../../../src/expected/follow/follow-payments.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { BEGIN, ExpectedModel, GAP } from '../../support/expected-model.ts';
import { recordReadDays } from '../../support/make-report-transactions.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { chooseSeed, numRuns } from '../../support/property.ts';
import { readExpected } from '../../support/read-expected.ts';

const STEPS = 40;
const STEP_NAMES = [
  ...(['put', 'put', 'put', 'put', 'pay', 'pay', 'pay', 'pay', 'correct'] as const),
  ...(['cancel', 'match', 'unmatch', 'unmatch', 'follow'] as const),
];

const environment = closeAfterAll(await openEnvironment());
let contexts: Context[];
beforeAll(async () => {
  contexts = [environment.context, await environment.replica()];
  for (let at = 0; at < 200; at += 5)
    if (at !== GAP.from)
      await recordReadDays(environment.context, addDays(BEGIN, at), addDays(BEGIN, at + 4), new Date());
});

/** Lets either process follow, or both at once. */
async function follow(model: ExpectedModel): Promise<void> {
  const { db } = environment.context;
  await db.updateTable('expected_following').set({ lease_until: null }).execute();
  if (model.draw(3) === 0) await Promise.all(contexts.map(decideAll));
  else await decideAll(model.context);
}

/** Decides all that was left: the clocks of two processes differ by milliseconds, so that the last may not be due at once. */
async function followAll(model: ExpectedModel): Promise<void> {
  const { db } = environment.context;
  for (;;) {
    await follow(model);
    const left = await db.selectFrom('expected_work').select(['created_at', 'due_at']).execute();
    // deferred: it failed
    expect(left.filter((row) => row.due_at > row.created_at)).toEqual([]);
    if (left.length === 0) return;
  }
}

test('after any storm, matches and states are those of the contract', { timeout: 600_000 }, async () => {
  const seed = chooseSeed(Math.floor(Math.random() * 2 ** 31));
  const models: ExpectedModel[] = [];
  for (let round = 0; round < numRuns(6, 300); round++) {
    const model = new ExpectedModel(seed + round, { environment, contexts });
    models.push(model);
    const forgetsAt = model.draw(2 * STEPS);
    for (let step = 0; step < STEPS; step++) {
      const name = model.pick(...STEP_NAMES);
      if (step === forgetsAt) await model.forget();
      if (name === 'follow') await follow(model);
      // a follower meets the locks of who writes
      else if (model.draw(4) === 0) await Promise.all([model[name](), follow(model)]);
      else await model[name]();
    }
    await followAll(model);
    expect(await readExpected(environment.context.db, model), `round ${round}`).toEqual(model.foretell(false));
  }
  // now a run proves the days that lacked
  const [from, to] = [addDays(BEGIN, GAP.from), addDays(BEGIN, GAP.to)];
  const { context } = environment;
  await recordReadDays(context, from, to, context.clock.now());
  await transact(context.db, (trx) => leaveExpectedWork(trx, [{ from_day: from, to_day: to }], context.clock.now()));
  for (const [round, model] of models.entries()) {
    await followAll(model);
    expect(await readExpected(environment.context.db, model), `round ${round}, proven`).toEqual(model.foretell(true));
  }
});

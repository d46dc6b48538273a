import { afterAll, beforeAll, expect, test } from 'vitest';
import { raiseAlerts } from '../../../src/alerts/raise-alerts.ts';
import { transact } from '../../../src/database/transact.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { correctReferenceScopes } from '../../../src/mismatches/correct-reference-scopes.ts';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import type { ShownTransaction } from '../../support/make-observations.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { makeShownTransaction, observeNow } from '../../support/read-ledger-state.ts';

let environment: TestEnvironment;
let seconds = 0;
beforeAll(async () => {
  environment = await openEnvironment({ WEBHOOKS_SINCE: '2026-01-01T00:00:00Z' });
});
afterAll(() => environment[Symbol.asyncDispose]());

const observe = (...rows: ShownTransaction[]) => {
  seconds++;
  return applyObservations(
    environment.context,
    rows.map((row) => observeNow(environment.context, row, seconds)),
  );
};
const readMismatches = () => environment.context.db.selectFrom('mismatches').selectAll().orderBy('seq').execute();
const readAlerts = () => environment.context.db.selectFrom('alerts').selectAll().orderBy('seq').execute();

/** Makes two payments of a reference, and stores their mismatch and its alert as earlier versions did. */
async function makeOldDuplicate(reference: string) {
  const { db } = environment.context;
  const rows = [1, 2].map((minute) => makeShownTransaction([`paid@${minute}`], { reference }));
  await observe(...rows);
  const mismatch = (await readMismatches()).at(-1);
  if (!mismatch) throw new Error('no mismatch was raised');
  const scope = `reference:${reference}`;
  const open_scope = `duplicate_reference ${scope}`;
  await db.updateTable('mismatches').set({ scope, open_scope }).where('seq', '=', mismatch.seq).execute();
  const summary = `duplicate_reference: ${scope}, R$ 20.00`;
  const old = { scope, firing_scope: open_scope, summary };
  await db.deleteFrom('mismatch_causes').where('mismatch_seq', '=', mismatch.seq).execute();
  await db.updateTable('alerts').set(old).where('mismatch_id', '=', mismatch.id).execute();
  return { rows, mismatch };
}

test('a mismatch of an earlier version keeps its row and its alert, loses the reference, and still ends', async () => {
  const reference = 'Caio Neves 529.982.247-25, R$ 1.00';
  const { rows, mismatch } = await makeOldDuplicate(reference);
  await transact(environment.context.db, (trx) =>
    raiseAlerts(
      trx,
      [
        {
          ...{ name: 'duplicate_reference', severity: 'critical', scope: 'run_x' },
          summary: `duplicate_reference: 2 of one cause (run_x), R$ 5.00; one of them: reference:${reference}`,
        },
      ],
      new Date(),
    ),
  );
  // killed after the alerts, before the mismatches
  const killed = {
    ...environment.context,
    get keys(): never {
      throw new Error('killed');
    },
  };
  await expect(correctReferenceScopes(killed)).rejects.toThrow('killed');
  await correctReferenceScopes(environment.context);
  const [corrected, alerts] = [await readMismatches(), await readAlerts()];
  await correctReferenceScopes(environment.context);
  expect([await readMismatches(), await readAlerts()]).toEqual([corrected, alerts]);
  expect(JSON.stringify(alerts)).not.toMatch(/Caio|529\.982/);
  expect(alerts).toMatchObject([
    {
      scope: mismatch.id,
      firing_scope: `duplicate_reference ${mismatch.id}`,
      summary: `duplicate_reference: mismatch ${mismatch.id}, R$ 20.00`,
    },
    { scope: 'run_x', summary: 'duplicate_reference: 2 of one cause (run_x), R$ 5.00' },
  ]);
  expect(corrected).toMatchObject([{ id: mismatch.id, state: 'open', reference, reopened: 0 }]);
  expect(corrected[0]?.scope).toMatch(/^hmac:[0-9a-f]{64}$/);
  expect(corrected[0]?.open_scope).toBe(`duplicate_reference ${corrected[0]?.scope}`);

  // a third payment adds evidence to the same mismatch; then all but one are over
  const third = makeShownTransaction(['paid@3'], { reference });
  await observe(third);
  expect(await readMismatches()).toMatchObject([{ id: mismatch.id, state: 'open' }]);
  const over = [...rows.slice(1), third].map(({ id }, index) => ({
    ...makeShownTransaction([`paid@${index + 2}`, 'refund@9'], { reference }),
    id,
  }));
  await observe(...over);
  expect(await readMismatches()).toMatchObject([{ id: mismatch.id, state: 'resolved', resolution: 'fresh_evidence' }]);
  expect(await readAlerts()).toMatchObject([{ firing_scope: null }, { scope: 'run_x' }]);
});

test('a mismatch that was raised again before the correction leaves one open', async () => {
  const { rows, mismatch } = await makeOldDuplicate('pedido 7');
  await observe(makeShownTransaction(['paid@3'], { reference: 'pedido 7' }));
  const find = async () => (await readMismatches()).filter((row) => row.reference === 'pedido 7');
  expect(await find()).toHaveLength(2);
  await correctReferenceScopes(environment.context);
  expect(await find()).toMatchObject([
    { id: mismatch.id, state: 'resolved', open_scope: null },
    { state: 'open', actual: expect.stringContaining(rows[0]?.id ?? '') },
  ]);
});

test('the alert of a scope that contains a document names the mismatch', async () => {
  const { context } = environment;
  const found = { kind: 'list_unstable' as const, scope: '2026-01-01 loja 529.982.247-25' };
  await transact(context.db, (trx) => raiseMismatches(trx, [found], context.clock.now()));
  const mismatch = (await readMismatches()).at(-1);
  expect((await readAlerts()).at(-1)).toMatchObject({
    scope: expect.stringMatching(/^high /),
    summary: `list_unstable: mismatch ${mismatch?.id}`,
  });
});

/** A status without a history: event, entry, spreadsheet and callback agree on its time. */
import { expect, test } from 'vitest';
import { renderBodies } from '../../../src/callbacks/render/render-bodies.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { openReport } from '../../../src/reports/serve/open-report.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { makeShownTransaction, observeNow } from '../../support/read-ledger-state.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';
import { readWorkbook, rowsOf, sheetOf } from './read-workbook.ts';

const CREATED = '2026-11-19 10:00:00';

test('a cashout denied without a history is held until its denial, in Pendentes as in the ledger', async () => {
  using home = temporaryDirectory();
  await using environment = await openEnvironment({ WEBHOOKS_SINCE: '2026-01-01T00:00:00Z', DATA_DIR: home.path });
  const { context } = environment;
  const { merchant } = await createMerchant(context, {
    name: 'shop',
    url: 'https://shop.example/',
    eventsSince: new Date(0),
  });
  const events = [
    { status: 'in_analysis', date_created: '2026-11-20 09:00:00' },
    { status: 'pending', date_created: CREATED },
  ];
  const row = {
    ...makeShownTransaction(['pending@0'], { operation: 'cashout', status: 'in_analysis', amount: '100.00' }),
    events,
  };
  const cashout = { ...row, date_created: CREATED };
  await applyObservations(context, [observeNow(context, cashout)]);
  await applyObservations(context, [observeNow(context, { ...cashout, status: 'denied', events: [] }, 1)]);

  for (const [day, pending] of [
    ['2026-11-19', [cashout.id]],
    ['2026-11-20', []],
  ] as const) {
    await makeReport(context, day);
    const sheets = await readWorkbook((await openReport(context, { day, format: 'xlsx' })).file);
    const cells = rowsOf(sheetOf(sheets, 'Pendentes')).flatMap((one) => Object.values(one));
    const listed = cells.flatMap((cell) => (cell?.value === cashout.id ? [cashout.id] : []));
    expect(listed, day).toEqual(pending);
    const differences = sheetOf(sheets, 'Resumo').rows.filter((one) => String(one[0]?.value).startsWith('Diferença'));
    expect(differences.length).toBeGreaterThan(1);
    for (const one of differences) {
      for (const cell of one.filter((each) => each?.kind === 'number')) expect(cell?.value, day).toBe(0);
    }
  }
  const callbacks = await context.db
    .selectFrom('callbacks')
    .selectAll()
    .where('merchant_seq', '=', merchant.seq)
    .where('type', '=', 'pix.cashout.denied')
    .execute();
  const bodies = await renderBodies(
    context,
    callbacks.map((one) => ({
      ...{ seq: one.seq, transactionSeq: one.transaction_seq, eventSeq: one.event_seq, sequence: one.sequence },
      ...{ type: one.type, previousStatus: one.previous_status, source: one.source, createdAt: one.created_at },
    })),
  );
  expect([...bodies.values()]).toMatchObject([
    { data: { transaction: { status: 'denied', status_at: '2026-11-20T09:00:00-03:00' } } },
  ]);
});

import { expect, test } from 'vitest';
import { adjustBooks } from '../../../src/ledger/stated/adjust-books.ts';
import { closeMonth } from '../../../src/reports/months/close-month.ts';
import { presentShownMonth, readMonth } from '../../../src/reports/months/list-months.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import { recordReadDays } from '../../support/make-report-transactions.ts';
import { openBooks, reverseOpening } from '../../support/open-books.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { openConsoleSession } from '../../support/open-console-session.ts';

const PAGE = '/reports/months/2025-10';
const PLATFORM = 'loja-nova';

test('a month that begins with an opening shows it: its page, the preview of its close, and once it is closed', async () => {
  await using env = await openConsoleEnvironment();
  const { context } = env;
  const stated = { platform: PLATFORM, day: '2025-10-01', actor: 'test', newPlatform: true };
  const id = await openBooks(context, { ...stated, balanceCents: 2_500_000n });
  await adjustBooks(context, { ...stated, day: '2025-10-20', kind: 'bank', amountCents: -2_500_000n, note: 'saque' });
  await recordReadDays(context, '2025-06-01', '2025-10-31', new Date('2025-12-05T12:00:00Z'));
  await sealNow(context);
  const session = await openConsoleSession(env, 'accountant');
  const row = /loja-nova R\$ 25\.000,00 R\$ 0,00 R\$ 0,00/;
  expect((await session.get(PAGE)).text).toMatch(row);
  expect((await session.post(`${PAGE}/close`, { note: '', step: 'preview' })).text).toMatch(row);
  expect(await closeMonth(context, { month: '2025-10', actor: 'test' })).toBe(true);
  // what is reversed later is no balance of the close
  await reverseOpening(context, id);
  expect((await session.get(PAGE)).text).toMatch(row);
  const shown = await readMonth(context, '2025-10');
  expect(shown && presentShownMonth(shown).balances).toContainEqual({
    ...{ account: `Assets:Provider:Available:${PLATFORM}`, opening: '25000.00', closing: '0.00' },
  });
});

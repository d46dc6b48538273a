import { beforeAll, expect, test } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { checkBooks } from '../../../src/proof/check-books.ts';
import { closeMonth } from '../../../src/reports/months/close-month.ts';
import { reopenMonth } from '../../../src/reports/months/reopen-month.ts';
import { readMonthClose } from '../../../src/seal/read-month-closes.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import { writeMonthLeaf } from '../../../src/tlog/append.ts';
import { hashLeaf } from '../../../src/tlog/merkle.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { applyTransactions, recordReadDays, transactionOf } from '../../support/make-report-transactions.ts';
import { openEnvironment } from '../../support/open-environment.ts';

const MONTH = '2025-10';
const BY = { actor: 'tk_accountant' };

const books = closeAfterAll(await openEnvironment());
let context: Context;
beforeAll(async () => {
  ({ context } = books);
  for (const day of ['2025-10-09', '2025-10-10']) {
    await applyTransactions(context, [transactionOf('cashin', 10_000n, [['paid', `${day} 10:00:00`]])]);
    await sealNow(context);
  }
  await recordReadDays(context, '2025-10-01', '2025-10-31', new Date('2025-12-05T12:00:00Z'));
  await closeMonth(context, { month: MONTH, ...BY });
  await sealNow(context);
});

const listBreaks = async () => (await checkBooks(context)).breaks.map(({ scope, says }) => `${scope}: ${says}`);
const readRow = () => context.db.selectFrom('month_closes').selectAll().where('seq', '=', 1).executeTakeFirstOrThrow();

test.each([
  ['position', { cut_seal_position: 1 }, /the position of its close 1 is not the one in the audit/],
  ['hash', { cut_seal_hash: Buffer.alloc(32, 7) }, /names position \d+, whose hash is another one/],
  ['digest', { digest: Buffer.alloc(32, 7) }, /the balances of its close 1 do not have its digest/],
  ['balances', { balances: '[]' }, /the balances of its close 1 do not have its digest/],
  ['cut', { cut_entry_seq: 1 }, /the cut of its close 1 is not that of position \d+/],
  ['actor', { actor: 'tk_other' }, /its change 1 \(close\) is not in the audit/],
  ['month', { month: '2025-01' }, /month 2025-01: its change 1 \(close\) is not in the audit/],
])('finds a close whose %s was changed by hand', async (_, change, says) => {
  const row = await readRow();
  await context.db.updateTable('month_closes').set(change).execute();
  expect((await listBreaks()).join('\n')).toMatch(says);
  await context.db.updateTable('month_closes').set(row).execute();
});

test('the log has a leaf of the close, and a reopened month breaks nothing', async () => {
  const [leaf] = await context.db.selectFrom('log_hashes').select('hash').where('kind', '=', 'month').execute();
  expect(leaf?.hash).toEqual(hashLeaf(writeMonthLeaf(await readMonthClose(context.db, 1))));
  await reopenMonth(context, { month: MONTH, note: 'erro', ...BY });
  await sealNow(context);
  expect(await listBreaks()).toEqual([]);
});

test('finds a close that is gone, and one that nobody audited', async () => {
  const row = await readRow();
  await context.db.deleteFrom('month_closes').where('seq', '=', 1).execute();
  const gone = (await listBreaks()).join('\n');
  expect(gone).toMatch(/month 2025-10: its change 1 is in the audit, and gone/);
  expect(gone).toMatch(/log \d+: month 1 is gone/);
  await context.db
    .insertInto('month_closes')
    .values([row, { ...row, seq: 3, month: '2025-12' }])
    .execute();
  expect((await listBreaks()).join('\n')).toMatch(/month 2025-12: its change 3 \(close\) is not in the audit/);
});

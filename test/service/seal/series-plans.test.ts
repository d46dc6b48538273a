import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { addDays } from '../../../src/domain/calendar.ts';
import { readMoneySeries } from '../../../src/ledger/read/read-money-series.ts';
import { countReads } from '../../support/count-reads.ts';
import { openEnvironment } from '../../support/open-environment.ts';

test('a series reads the sums, not the payments of its days', async () => {
  await using loaded = await openEnvironment();
  const { db, calendar, clock } = loaded.context;
  const today = calendar.dayOf(clock.now());
  const first = addDays(today, -5);
  const entries = 20_000;
  const groups = ['Assets:Provider:Available', 'Liabilities:Receipts'];
  for (const text of [
    `INSERT INTO accounts (seq, name) VALUES ${groups.map((name, index) => `(${index + 1}, '${name}:p')`).join()}`,
    `INSERT INTO postings (entry_seq, position, account_seq, at_wall, amount_cents)
      SELECT e.seq, p.seq, p.seq, DATE_FORMAT('${first}' + INTERVAL e.seq * 10 SECOND, '%Y-%m-%d %H:%i:%s'),
        IF(p.seq = 1, 100, -100) FROM seq_1_to_${entries} e JOIN seq_1_to_2 p`,
    ...Object.entries({ month: 7, day: 10, hour: 13 }).map(
      ([grain, chars]) => `INSERT INTO balance_spans SELECT '${grain}', LEFT(at_wall, ${chars}) AS span, account_seq,
        SUM(amount_cents) FROM postings GROUP BY span, account_seq`,
    ),
    `INSERT INTO seals (position, entry_seq, event_seq, mismatch_change_seq, audit_seq, members, entries, stragglers,
      previous_hash, hash, sealed_at) VALUES (1, ${entries}, 0, 0, 0, '1-${entries}', ${entries}, 0,
      REPEAT('x', 32), REPEAT('x', 32), UTC_TIMESTAMP(3))`,
    'ANALYZE TABLE accounts, postings, balance_spans, seals',
  ])
    await sql.raw(text).execute(db);
  for (const query of [
    { from: addDays(today, -91), to: today },
    { day: addDays(first, 1), platform: 'p' },
  ]) {
    const read = await countReads(db, async (one) => {
      const points = await readMoneySeries({ ...loaded.context, db: one }, query);
      expect(points.some(({ sums }) => sums && sums.receipts > 0n && sums.balance > 0n)).toBe(true);
    });
    expect(read).toBeLessThan(1_000);
  }
});

import { expect, test } from 'vitest';
import { transact } from '../../../src/database/transact.ts';
import type { StoredEvent } from '../../../src/domain/sort-history.ts';
import { writeEntries } from '../../../src/ledger/journal/write-entries.ts';
import { openTestContext } from '../../support/open-environment.ts';

test('an entry of an event that was not written is refused, not stored as one without an event', async () => {
  await using context = await openTestContext();
  const at = '2026-11-20 09:00:00';
  const unwritten: StoredEvent = {
    ...{ seq: undefined, status: 'paid', atWall: at, occurrence: 0 },
    ...{ position: 0, sequence: 1, inferred: false, number: 1 },
  };
  const write = (event: StoredEvent | undefined) =>
    transact(context.db, (trx) => {
      const postings = [
        { account: 'Assets:Bank:none', cents: 1n },
        { account: 'Expenses:Fees:none', cents: -1n },
      ];
      const post = [{ kind: 'event', event, atWall: at, platform: 'none', postings }];
      const change = { transactionSeq: null, source: { kind: 'person' as const }, reverse: [], post };
      return writeEntries(context, trx, [change], context.clock.now());
    });
  await expect(write(unwritten)).rejects.toThrow('no row number of the event of an entry');
  expect(await write(undefined)).toEqual([expect.any(Number)]);
  expect(await context.db.selectFrom('entries').select('event_seq').execute()).toEqual([{ event_seq: null }]);
});

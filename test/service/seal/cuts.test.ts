/** The numbers of a cut are those of one reading. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { closeMonth } from '../../../src/reports/months/close-month.ts';
import type { Cut } from '../../../src/reports/plan/report-plan.ts';
import { takeCut } from '../../../src/reports/plan/take-cut.ts';
import { readMonthClose } from '../../../src/seal/read-month-closes.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import { eventually } from '../../support/eventually.ts';
import { holdReads } from '../../support/failing-database.ts';
import { applyTransactions, recordReadDays, transactionOf } from '../../support/make-report-transactions.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { makeShownTransaction, observeNow } from '../../support/read-ledger-state.ts';

let environment: TestEnvironment;
beforeEach(async () => {
  environment = await openEnvironment();
});
afterEach(() => environment[Symbol.asyncDispose]());

/** Learns of a payment and, in the same transaction, its reference: a fact and entries that belong together. */
async function pay(id: string): Promise<void> {
  const { context } = environment;
  await applyObservations(context, [observeNow(context, makeShownTransaction(['pending@0'], { id }))]);
  const paid = makeShownTransaction(['pending@0', 'paid@1'], { id, reference: `order of ${id}` });
  await applyObservations(context, [observeNow(context, paid, 1)]);
}

/** Of the newest transaction that brought both: whether a cut has its entries, and its fact. */
async function readParts(cut: Pick<Cut, 'entrySeq' | 'factChangeSeq'>) {
  const { db } = environment.context;
  const fact = await db.selectFrom('fact_changes').select('seq').orderBy('seq', 'desc').executeTakeFirstOrThrow();
  const entry = await db.selectFrom('entries').select('seq').orderBy('seq', 'desc').executeTakeFirstOrThrow();
  return { entries: cut.entrySeq >= entry.seq, fact: cut.factChangeSeq >= fact.seq };
}

/** Takes a cut by `work`; a payment is booked and sealed by another process after its first reading. */
async function interrupt<T>(work: (context: TestEnvironment['context']) => Promise<T>): Promise<T> {
  const { context } = environment;
  await pay('before');
  await sealNow(context);
  const reads = holdReads(context, undefined);
  reads.hold();
  const done = work(reads.context);
  await eventually('the watermark was read', () => reads.held() > 0);
  await pay('between');
  await sealNow(context);
  reads.release();
  return await done;
}

test('a cut that another process has sealed meanwhile has the facts of its entries', async () => {
  expect(await readParts(await interrupt(takeCut))).toEqual({ entries: true, fact: true });
});

test('a month is closed on facts and entries that belong together', async () => {
  const { context } = environment;
  await applyTransactions(context, [transactionOf('cashin', 10_000n, [['paid', '2025-10-10 10:00:00']])]);
  await recordReadDays(context, '2025-10-01', '2025-10-31', new Date('2025-12-05T12:00:00Z'));
  await interrupt((held) => closeMonth(held, { month: '2025-10', actor: 'tk_accountant' }));
  const { entries, fact } = await readParts(await readMonthClose(context.db, 1));
  expect(fact).toBe(entries);
});

test('a change of a fact alone is sealed too', async () => {
  const { context } = environment;
  await pay('one');
  const before = await takeCut(context);
  const row = makeShownTransaction(['pending@0', 'paid@1'], {
    id: 'one',
    reference: 'order of one',
    extra: 'said late',
  });
  await applyObservations(context, [observeNow(context, row, 2)]);
  const after = await takeCut(context);
  expect(after.position).toBeGreaterThan(before.position ?? 0);
  expect(after.factChangeSeq).toBeGreaterThan(before.factChangeSeq);
});

test('a seal of the previous release names no facts: the next cut is a seal of its own above it', async () => {
  const { context } = environment;
  await pay('one');
  const { position, hash, ...seal } = await sealNow(context);
  await context.db
    .insertInto('seals')
    .values({
      ...{
        position: position + 1,
        previous_hash: hash,
        hash: Buffer.alloc(32, 1),
        members: '',
        entries: 0,
        stragglers: 0,
      },
      ...{ entry_seq: seal.entrySeq, event_seq: seal.eventSeq, mismatch_change_seq: seal.mismatchChangeSeq },
      ...{ audit_seq: seal.auditSeq, audit_members: '', sealed_at: seal.sealedAt },
    })
    .execute();
  const cut = await takeCut(context);
  expect(cut.position).toBe(position + 2);
  expect(await readParts(cut)).toEqual({ entries: true, fact: true });
});

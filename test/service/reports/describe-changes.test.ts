import { beforeAll, expect, test } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { transact } from '../../../src/database/transact.ts';
import { addDays } from '../../../src/domain/calendar.ts';
import type { ObservedTransaction } from '../../../src/domain/observation.ts';
import { acceptMismatch } from '../../../src/ledger/correct/accept-mismatch.ts';
import { adjustBooks, reverseAdjustment } from '../../../src/ledger/stated/adjust-books.ts';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { openReport } from '../../../src/reports/serve/open-report.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import {
  applyTransactions,
  generateTransactions,
  PLATFORM_A,
  PLATFORM_B,
  recordReadDays,
  transactionOf,
  withLaterEvents,
} from '../../support/make-report-transactions.ts';
import { openBooks as openLedger, stateBalance } from '../../support/open-books.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { chooseSeed, createRandom, numRuns } from '../../support/property.ts';
import { readRow } from '../../support/read-rows.ts';
import { addLateEvent } from './add-late-event.ts';
import { centsOf, lineOf, readWorkbook, rowsOf, sheetOf, sumCents } from './read-workbook.ts';

const BEFORE = '2026-03-10';
const DAY = '2026-03-11';
const AFTER = new Date('2026-03-12T09:00:00Z');
const books = closeAfterAll(await openEnvironment());
let context: Context;

beforeAll(async () => {
  ({ context } = books);
});

/** Each cause has a day of its own, so the revision of one does not depend on another. */
let next = 0;
function takeDay(): { day: string; before: string; at: (time: string) => string; earlier: (time: string) => string } {
  const day = addDays('2025-01-10', 10 * ++next);
  const before = addDays(day, -3);
  return { day, before, at: (time) => `${day} ${time}`, earlier: (time) => `${before} ${time}` };
}
type Times = ReturnType<typeof takeDay>;

async function readRevision(of: Context, day: string, revision: number) {
  const sheets = await readWorkbook((await openReport(of, { day, format: 'xlsx', revision })).file);
  const closing = centsOf(lineOf(sheetOf(sheets, 'Resumo'), 'Saldo final')?.filter(Boolean).at(-1));
  return { closing, changes: rowsOf(sheetOf(sheets, 'Alterações')) };
}

type Revision = Awaited<ReturnType<typeof readRevision>>;

/**
 * Asserts that each row of a revision has its cells filled, and that the differences add up to the day's movement.
 * @param before the revision before, if it was read already.
 * @returns the revision.
 */
async function assertChanges(of: Context, day: string, revision: number, before?: Revision): Promise<Revision> {
  const old = before ?? (await readRevision(of, day, revision - 1));
  const now = await readRevision(of, day, revision);
  expect([day, revision, now.changes.length > 0]).toEqual([day, revision, true]);
  for (const row of now.changes) {
    const [before, after] = [row.Antes, row['Efeito no saldo antes']].concat([
      row.Depois,
      row['Efeito no saldo depois'],
    ]);
    const cells = [row['O que mudou'], before ?? after, row['Por quê'], row['Conhecido em']];
    expect([day, cells.map((cell) => (cell?.value ?? '') !== '')]).toEqual([day, [true, true, true, true]]);
    // the last resort, for a change without a row
    expect(row['O que mudou']?.value).not.toBe('Linhas do dia');
  }
  expect([day, sumCents(now.changes.map((row) => row.Diferença))]).toEqual([day, now.closing - old.closing]);
  return now;
}

async function accept(
  kind: 'amount_differs' | 'status_differs' | 'reference_differs',
  one: ObservedTransaction,
  actual: object,
): Promise<void> {
  const { seq } = await readRow(context.db, 'transactions', ['seq'], { id: one.id });
  const found = { kind, scope: one.id, transactionSeq: seq, transactionId: one.id, actual };
  await transact(context.db, (trx) => raiseMismatches(trx, [found], context.clock.now()));
  const row = await readRow(context.db, 'mismatches', ['id'], { scope: one.id, kind });
  await acceptMismatch(context, row.id, { actor: 'test', note: 'o provedor confirmou' });
}

const blank = { reference: null, platform: null };
const lacks = (sequence: number) => ({ lacks: [{ sequence }], shows_again: [] });

/** Each prepares a day and returns the function that changes it after its report. */
const CAUSES: Record<string, (times: Times) => Promise<() => Promise<unknown>>> = {
  async 'an event of the day that was learnt later'({ at }) {
    const one = transactionOf('cashin', 9_900n, [['pending', at('10:00:00')]]);
    await applyTransactions(context, [one]);
    return () => applyTransactions(context, [withLaterEvents(one, [['paid', at('11:00:00')]])]);
  },
  async 'a reference, filled in, of a transaction that was created earlier and paid that day'({ at, earlier }) {
    const history = [['pending', earlier('10:00:00')] as const, ['paid', at('10:00:00')] as const];
    const one = transactionOf(
      'cashin',
      5_000n,
      history.map(([status, wall]) => [status, wall]),
      { reference: null },
    );
    await applyTransactions(context, [one]);
    return () => applyTransactions(context, [withLaterEvents(one, [], { reference: 'pedido-7' })]);
  },
  async 'a platform, filled in, of an open payment that was created earlier'({ earlier }) {
    const one = transactionOf('cashout', 700n, [['pending', earlier('10:00:00')]], blank);
    await applyTransactions(context, [one]);
    return () => applyTransactions(context, [withLaterEvents(one, [], { platform: PLATFORM_A })]);
  },
  async 'an amount, accepted, of an open payment that was created earlier'({ earlier }) {
    const one = transactionOf('cashout', 700n, [['pending', earlier('10:00:00')]]);
    await applyTransactions(context, [one]);
    return () => accept('amount_differs', one, { amount: '8.00', operation: 'cashout' });
  },
  async 'a payment of an earlier day that is open still, learnt later'({ earlier }) {
    return () => applyTransactions(context, [transactionOf('cashout', 700n, [['pending', earlier('10:00:00')]])]);
  },
  async 'an open status of an earlier day, learnt later'({ earlier }) {
    const one = transactionOf('cashout', 700n, [['pending', earlier('10:00:00')]]);
    await applyTransactions(context, [one]);
    return () => applyTransactions(context, [withLaterEvents(one, [['in_process', earlier('11:00:00')]])]);
  },
  async 'the end on an earlier day of a payment that was open, learnt later'({ earlier }) {
    const one = transactionOf('cashout', 700n, [['pending', earlier('10:00:00')]]);
    await applyTransactions(context, [one]);
    return () => applyTransactions(context, [withLaterEvents(one, [['canceled', earlier('11:00:00')]])]);
  },
  async 'an event of an earlier day that is no more'({ earlier }) {
    const one = transactionOf('cashout', 700n, [
      ['pending', earlier('10:00:00')],
      ['paid', earlier('11:00:00')],
    ]);
    await applyTransactions(context, [one]);
    return () => accept('status_differs', one, lacks(2));
  },
  async 'an event of the day that is no more, of a transaction without movements'({ at }) {
    const one = transactionOf('cashin', 700n, [
      ['pending', at('10:00:00')],
      ['in_analysis', at('11:00:00')],
    ]);
    await applyTransactions(context, [one]);
    return () => accept('status_differs', one, lacks(2));
  },
  async 'an amount, accepted, of a receipt of the day'({ at }) {
    const one = transactionOf('cashin', 700n, [['paid', at('10:00:00')]]);
    await applyTransactions(context, [one]);
    return () => accept('amount_differs', one, { amount: '8.00', operation: 'cashin' });
  },
  async 'a commission that was learnt later'({ at }) {
    const one = transactionOf('cashin', 700n, [['paid', at('10:00:00')]], { commissionCents: null });
    await applyTransactions(context, [one]);
    return () => applyTransactions(context, [withLaterEvents(one, [], { commissionCents: 9n })]);
  },
  async 'an adjustment of the day'({ day }) {
    return () => adjust(day, 1_234n);
  },
  async 'an adjustment of an earlier day'({ before }) {
    return () => adjust(before, -1_234n);
  },
  async 'an adjustment of an earlier day that is entered anew under another kind'({ before }) {
    const id = await adjust(before, 500n);
    return async () => {
      await reverseAdjustment(context, id, { note: 'era tarifa', actor: 'test' });
      await adjust(before, 500n, 'fee');
    };
  },
  async 'an event that was committed late, below the number of the cut, without entries'({ at }) {
    const one = transactionOf('cashin', 700n, [['pending', at('10:00:00')]]);
    await applyTransactions(context, [one]);
    const late = await addLateEvent(context, one.id, { status: 'in_process', atWall: at('11:00:00') });
    await applyTransactions(context, [transactionOf('cashin', 800n, [['paid', at('12:00:00')]])]);
    return late;
  },
  async 'a stated balance, and another one for the same moment'({ day }) {
    const at = context.calendar.startOfDay(addDays(day, 1));
    await stateBalance(context, { platform: PLATFORM_A, actor: 'test', at, balanceCents: 1n });
    return () => stateBalance(context, { platform: PLATFORM_A, actor: 'test', at, balanceCents: 2n });
  },
  async 'a reading of the whole day'({ day }) {
    return () => recordReadDays(context, day, day, AFTER);
  },
  async 'counts of all the days before it'({ day }) {
    await recordReadDays(context, day, day, AFTER);
    return () => recordReadDays(context, addDays(day, -95), addDays(day, -1), AFTER);
  },
};

async function adjust(day: string, amountCents: bigint, kind: 'bank' | 'fee' = 'bank'): Promise<string> {
  return await adjustBooks(context, { platform: PLATFORM_A, day, kind, amountCents, note: 'teste', actor: 'test' });
}

test.each(Object.entries(CAUSES))('a revision because of %s says so in Alterações', async (_, prepare) => {
  const times = takeDay();
  const act = await prepare(times);
  const { report: first } = await makeReport(context, times.day);
  expect(first.revision).toBe(1);
  await act();
  expect(await makeReport(context, times.day)).toMatchObject({ changed: true, report: { revision: 2 } });
  await assertChanges(context, times.day, 2);
  expect(await makeReport(context, times.day)).toMatchObject({ changed: false });
});

test('Alterações shows the source of a correction, and the values before and after', async () => {
  const { day, at, earlier } = takeDay();
  const one = transactionOf('cashin', 5_000n, [['pending', earlier('10:00:00')]], { reference: null });
  await applyTransactions(context, [withLaterEvents(one, [['paid', at('10:00:00')]])]);
  await makeReport(context, day);
  await applyTransactions(context, [withLaterEvents(one, [['paid', at('10:00:00')]], { reference: 'pedido-8' })]);
  await makeReport(context, day);
  const { changes } = await readRevision(context, day, 2);
  expect(changes).toMatchObject([
    {
      Antes: { value: 'Pago, referência –' },
      Depois: { value: 'Pago, referência pedido-8' },
      'Por quê': { value: 'dado da transação conhecido ou corrigido depois' },
      Origem: { value: 'Consulta' },
    },
  ]);
});

test('a changed count of Resumo has a row of its own if no transaction has one', async () => {
  const { day, at, earlier } = takeDay();
  const history = [
    ['pending', earlier('10:00:00')] as const,
    ['in_analysis', at('11:00:00')] as const,
    ['paid', `${addDays(day, 1)} 12:00:00`] as const,
  ];
  const one = transactionOf(
    'cashin',
    9_900n,
    history.map(([status, wall]) => [status, wall]),
  );
  await applyTransactions(context, [one]);
  const { report: first } = await makeReport(context, day);
  await accept('status_differs', one, lacks(2));
  expect(await makeReport(context, day)).toMatchObject({
    changed: true,
    report: { revision: 2, digest: first.digest },
  });
  expect((await readRevision(context, day, 2)).changes).toMatchObject([
    {
      'O que mudou': { value: 'Entrada · Em análise' },
      Antes: { value: '1 · 99,00' },
      Depois: { value: '0 · 0,00' },
      'Por quê': { value: 'contagem refeita: Mudanças de situação no dia' },
    },
  ]);
  expect(await makeReport(context, day)).toMatchObject({ changed: false });
});

test('a balance stated for an earlier moment than the one that Resumo shows makes no revision', async () => {
  const { day } = takeDay();
  const state = (hour: number, balanceCents: bigint) =>
    stateBalance(context, {
      platform: PLATFORM_A,
      actor: 'test',
      at: new Date(context.calendar.startOfDay(day).getTime() + hour * 3_600_000),
      balanceCents,
    });
  await state(18, 5n);
  await makeReport(context, day);
  await state(10, 7n);
  expect(await makeReport(context, day)).toMatchObject({ changed: false });
});

test('an opening balance stated for the day, or for an earlier one, has one row', async () => {
  await using other = await openEnvironment();
  for (const [platform, of] of [
    [PLATFORM_A, DAY],
    [PLATFORM_B, BEFORE],
  ] as const) {
    await applyTransactions(other.context, generateTransactions(20, [BEFORE, DAY], platform.length));
    const { report } = await makeReport(other.context, DAY);
    await openLedger(other.context, { platform, day: of, balanceCents: 100_000n, actor: 'test' });
    expect(await makeReport(other.context, DAY)).toMatchObject({ changed: true });
    await assertChanges(other.context, DAY, report.revision + 1);
  }
});

test('a revision after a partial one says so, with the movement of the day since', async () => {
  await using other = await openEnvironment();
  const at = (instant: string): Context => ({
    ...other.context,
    clock: { ...other.context.clock, now: () => new Date(instant) },
  });
  await applyTransactions(other.context, [transactionOf('cashin', 1_000n, [['paid', `${DAY} 09:00:00`]])]);
  await makeReport(at(`${DAY}T13:00:00Z`), DAY);
  await applyTransactions(other.context, [transactionOf('cashin', 2_000n, [['paid', `${DAY} 11:00:00`]])]);
  expect(await makeReport(at(`${DAY}T15:00:00Z`), DAY)).toMatchObject({ report: { revision: 2, state: 'partial' } });
  const second = await assertChanges(other.context, DAY, 2);
  // only the day's end has passed
  expect(await makeReport(at('2026-03-12T09:00:00Z'), DAY)).toMatchObject({
    report: { revision: 3, state: 'provisional' },
  });
  const { changes } = await assertChanges(other.context, DAY, 3, second);
  expect(changes).toMatchObject([{ Antes: { value: 'parcial' }, Depois: { value: 'provisório' } }]);
});

const ROUNDS = Array.from({ length: numRuns(1, 30) }, (_, index) => index);

test.each(ROUNDS)('each revision has a row, for any observations in any order (round %i)', async (round) => {
  await using other = await openEnvironment();
  const drawn = chooseSeed(1) + round;
  const random = createRandom(drawn);
  const all = generateTransactions(numRuns(24, 120), [BEFORE, DAY], drawn);
  // some observations show a beginning of the history only, or not every fact
  const observations = all
    .flatMap((one) => {
      const cut = Math.floor(random() * one.events.length) + 1;
      const part = { ...one, events: one.events.slice(0, cut), status: one.events[cut - 1]?.status ?? one.status };
      return random() < 0.5
        ? [one]
        : [
            { ...part, ...(random() < 0.5 ? { reference: null } : {}), ...(random() < 0.3 ? { platform: null } : {}) },
            one,
          ];
    })
    .map((observed) => ({ observed, position: random() }));
  const later = new Map<string, number>();
  for (const one of observations) {
    one.position = Math.max(one.position, later.get(one.observed.id) ?? 0);
    later.set(one.observed.id, one.position + 1e-9);
  }
  observations.sort((a, b) => a.position - b.position);
  await applyTransactions(other.context, []);
  let revision = (await makeReport(other.context, DAY)).report.revision;
  let last: Revision | undefined;
  const revisionsAt = new Set(Array.from({ length: numRuns(5, 10) }, () => Math.floor(random() * observations.length)));
  for (const [index, { observed }] of observations.entries()) {
    await applyTransactions(other.context, [observed]);
    if (!revisionsAt.has(index) && index < observations.length - 1) continue;
    if (random() < 0.3) await recordReadDays(other.context, DAY, DAY, AFTER);
    const made = await makeReport(other.context, DAY);
    if (!made.changed) continue;
    revision = made.report.revision;
    last = await assertChanges(other.context, DAY, revision, last);
  }
  expect(revision).toBeGreaterThan(3);
});

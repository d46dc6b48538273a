/** The bank's statements: imported once, matched without a guess, and the difference to the ledger explained to the cent. */
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hashDocument } from '../../../src/database/keys/index-person.ts';
import { addDays } from '../../../src/domain/calendar.ts';
import { previewImport } from '../../../src/imports/import-file.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { type LINE_STATES, listBankLines } from '../../../src/ledger/bank/list-bank-lines.ts';
import { listBankMatches, listOpenBankEntries } from '../../../src/ledger/bank/list-bank-matches.ts';
import { markBankLine, openUnnamed, unmarkBankLine } from '../../../src/ledger/bank/mark-lines.ts';
import { matchBankLines } from '../../../src/ledger/bank/match-bank-lines.ts';
import { pickMatch, undoMatch } from '../../../src/ledger/bank/pick-match.ts';
import { presentBankSummary } from '../../../src/ledger/bank/present-bank-summary.ts';
import { summarizeBank } from '../../../src/ledger/bank/summarize-bank.ts';
import { adjustBooks, reverseAdjustment } from '../../../src/ledger/stated/adjust-books.ts';
import { setBankAccount } from '../../../src/ledger/stated/bank-accounts.ts';
import { checkBooks } from '../../../src/proof/check-books.ts';
import { importBank } from '../../support/import-bank.ts';
import { observe } from '../../support/make-observations.ts';
import { type MadeLine, type MadeStatement, makeOfx } from '../../support/make-ofx.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { chooseSeed, drawFrom, numRuns } from '../../support/property.ts';

const E2E = 'E18236120202610151530s1234abcd00';
const NONE = { count: 0, amount: '0.00' };
const CASHOUT = '0f0e7b8e-5a55-4b3c-9a51-1b5d7b3d1a01';
let environment: TestEnvironment;
let day: string;
beforeEach(async () => {
  environment = await openEnvironment();
  const { context } = environment;
  day = addDays(context.calendar.dayOf(context.clock.now()), -10);
});
afterEach(() => environment[Symbol.asyncDispose]());

const importFile = (made: MadeStatement | MadeStatement[]) => importBank(environment.context, made);
const line = (fitid: string, amount: string, more: Partial<MadeLine> = {}): MadeLine => ({
  day,
  amount,
  fitid,
  ...more,
});
/** Money that left the provider for the bank is a negative adjustment. */
const withdraw = (cents: bigint, more: { day?: string; note?: string } = {}): Promise<string> =>
  adjustBooks(environment.context, {
    ...{ platform: 'p', day, kind: 'bank', amountCents: -cents, note: 'retirada', actor: 'test', newPlatform: true },
    ...more,
  });
const listLines = async (state?: (typeof LINE_STATES)[number]) =>
  (await listBankLines(environment.context.db, 100, undefined, { state })).reverse();
const summarize = async () => presentBankSummary(await summarizeBank(environment.context.db));
const matchesOf = async () =>
  (await listLines('matched')).map(
    ({ fitid, match }) => `${fitid} ${match?.rule} ${match?.adjustment_id ?? match?.transaction_id}`,
  );

const NOTED = { actor: 'tok', note: 'n' };
/** Texts of the first account whose lines are nothing of PIX, as the operation sets them. */
async function setTexts(begins: string[], contains: string[] = [], account = '341/0'): Promise<void> {
  const { context } = environment;
  await setBankAccount(context, { account, notPix: { begins, contains }, isNew: true, actor: 'tok' });
  await openUnnamed(context, account);
  await matchBankLines(context);
}

async function payOut(id = CASHOUT, amount = '70.00'): Promise<void> {
  const history = [
    { status: 'paid', date_created: `${day} 12:00:00` },
    { status: 'pending', date_created: `${day} 11:00:00` },
  ];
  const shown = {
    id,
    operation: 'cashout',
    status: 'paid',
    amount,
    platform: 'p',
    e2e_id: E2E,
    events: history,
  } as const;
  const seen = observe({ ...shown, date_created: `${day} 11:00:00` }, environment.context.clock.now());
  await applyObservations(environment.context, [seen]);
}

describe('a file', () => {
  it('is imported once: the same bytes change nothing, and a longer file adds only its new lines', async () => {
    const first = { lines: [line('f1', '10.00'), line('f2', '-3.00')], balance: { amount: '107.00', day } };
    expect(await importFile(first)).toMatchObject({ repeated: false, statements: [{ lines: 2, new: 2, known: 0 }] });
    expect(await importFile(first)).toMatchObject({ repeated: true, statements: [] });
    const next = addDays(day, 1);
    const longer = {
      lines: [...first.lines, line('f3', '1.50', { day: next })],
      balance: { amount: '108.50', day: next },
    };
    expect(await importFile(longer)).toMatchObject({ repeated: false, statements: [{ lines: 3, new: 1, known: 2 }] });
    expect((await listLines()).map(({ fitid, amount }) => [fitid, amount])).toEqual([
      ['f1', '10.00'],
      ['f2', '-3.00'],
      ['f3', '1.50'],
    ]);
  });

  it('of another account has lines of its own, also with the same FITIDs', async () => {
    const both = [{ lines: [line('f1', '10.00')] }, { number: '999', lines: [line('f1', '10.00')] }];
    expect((await importFile(both)).statements.map((one) => one.new)).toEqual([1, 1]);
    expect((await listLines()).map(({ account }) => account)).toEqual(['341/56789-0', '341/999']);
  });

  it('that shows a known line with another amount or day is refused as a whole, with its lines', async () => {
    await importFile({ lines: [line('f1', '10.00'), line('f2', '20.00')] });
    const changed = [line('f0', '1.00'), line('f1', '10.01'), line('f2', '20.00', { day: addDays(day, 1) })];
    const fault = (at: number) =>
      `line ${at}: the FITID was imported before, with another day or amount: other_lines=true (--other-lines)`;
    const lines = makeOfx({ lines: changed })
      .split('\r\n')
      .flatMap((text, index) => (text === '<STMTTRN>' ? [index + 1] : []));
    await expect(importFile({ lines: changed })).rejects.toMatchObject({
      code: 'invalid_request',
      fields: { file: [fault(lines[1] ?? 0), fault(lines[2] ?? 0)] },
    });
    expect(await listLines()).toHaveLength(2);
    expect(await environment.context.db.selectFrom('bank_statements').select('seq').execute()).toHaveLength(1);
  });

  it('is only counted in a dry run, with the matches that it would make', async () => {
    await withdraw(1000n);
    const file = { kind: 'bank', bytes: Buffer.from(makeOfx({ lines: [line('f1', '10.00')] })) } as const;
    expect((await previewImport(environment.context, file, { allowEqual: false })).bank).toMatchObject({
      statements: [{ new: 1 }],
      matched: { reference: 0, amount: 1, not_pix: 0 },
    });
    expect(await listLines()).toEqual([]);
    expect(await listBankMatches(environment.context.db, 10, undefined)).toEqual([]);
  });

  it('of two processes at once is imported by one of them', async () => {
    const replica = await environment.replica();
    const file = { lines: [line('f1', '10.00'), line('f2', '11.00')] };
    await withdraw(1000n);
    const done = await Promise.all([environment.context, replica].map((one) => importBank(one, file)));
    expect(done.filter(({ repeated }) => repeated)).toHaveLength(1);
    expect([await listLines(), await matchesOf()].map((list) => list.length)).toEqual([2, 1]);
  });

  it('has its lines append-only, and nothing of a forgotten person', async () => {
    const { context } = environment;
    const document_hash = hashDocument(context.keys, '11144477735');
    await context.db
      .insertInto('forgotten_people')
      .values({ document_hash, forgotten_at: context.clock.now() })
      .execute();
    await importFile({
      lines: [line('f1', '10.00', { memo: 'PIX 111.444.777-35 RITA' }), line('f2', '1.00', { memo: 'TED' })],
    });
    expect((await listLines()).map(({ memo }) => memo)).toEqual([expect.not.stringContaining('777'), 'TED']);
    for (const table of ['bank_lines', 'bank_statements']) {
      await expect(sql.raw(`UPDATE ${table} SET account = 'x'`).execute(context.db)).rejects.toThrow('append-only');
      await expect(sql.raw(`DELETE FROM ${table}`).execute(context.db)).rejects.toThrow('append-only');
    }
  });
});

describe('a line', () => {
  it('closes the only adjustment of its amount, at the import or when the adjustment comes later', async () => {
    const [early, fee] = [
      await withdraw(50_000n, { day: addDays(day, -2) }),
      await withdraw(700n, { day: addDays(day, -3) }),
    ];
    expect(
      (await importFile({ lines: [line('f1', '500.00'), line('f2', '7.00'), line('f3', '33.00')] })).matched,
    ).toEqual({
      ...{ reference: 0, amount: 1, not_pix: 0 },
    });
    expect(await matchesOf()).toEqual([`f1 amount ${early}`]);
    const late = await withdraw(3300n);
    expect(await matchBankLines(environment.context)).toEqual({ reference: 0, amount: 1, not_pix: 0 });
    expect(await matchBankLines(environment.context)).toEqual({ reference: 0, amount: 0, not_pix: 0 });
    expect(await matchesOf()).toEqual([`f1 amount ${early}`, `f3 amount ${late}`]);
    expect((await listOpenBankEntries(environment.context.db, 10, undefined)).map((one) => one.adjustment_id)).toEqual([
      fee,
    ]);
  });

  it('with two candidates stays open, and both sides list them; a person picks one', async () => {
    const { context } = environment;
    const [one, other] = [await withdraw(50_000n, { day: addDays(day, -1) }), await withdraw(50_000n)];
    await importFile({ lines: [line('f1', '500.00')] });
    const [open] = await listLines('open');
    expect(open?.candidates).toEqual([
      { adjustment_id: one, transaction_id: null, day: addDays(day, -1), amount: '500.00', named: false },
      { adjustment_id: other, transaction_id: null, day, amount: '500.00', named: false },
    ]);
    const entries = await listOpenBankEntries(context.db, 10, undefined);
    expect(entries.map(({ candidates }) => candidates)).toEqual([
      [{ line_id: open?.id, day }],
      [{ line_id: open?.id, day }],
    ]);
    const id = await pickMatch(context, open?.id ?? '', { adjustment: other }, { actor: 'tok', note: 'o recibo diz' });
    expect((await listBankMatches(context.db, 10, undefined))[0]).toMatchObject({
      ...{ id, line_id: open?.id, adjustment_id: other, rule: 'person', state: 'matched', created_by: 'tok' },
      note: 'o recibo diz',
    });
    await expect(pickMatch(context, open?.id ?? '', { adjustment: one }, { actor: 'tok' })).rejects.toMatchObject({
      code: 'conflict',
    });
    // two lines for the adjustment that is left
    await importFile({
      lines: [line('f1', '500.00'), ...['f2', 'f3'].map((fitid) => line(fitid, '500.00', { memo: 'OUTRA' }))],
    });
    expect((await listLines('open')).map(({ candidates }) => candidates.length)).toEqual([1, 1]);
    const [left] = await listOpenBankEntries(context.db, 10, undefined);
    expect(left).toMatchObject({ adjustment_id: one, candidates: [{ line_id: 'bl_2' }, { line_id: 'bl_3' }] });
  });

  it('is decided by the number of the bank in the note', async () => {
    await withdraw(50_000n, { note: 'TED 45106' });
    const other = await withdraw(50_000n, { note: 'TED 45107' });
    await importFile({ lines: [line('f1', '500.00', { checkNumber: '000045107' })] });
    expect(await matchesOf()).toEqual([`f1 reference ${other}`]);
  });

  it('of a withdrawal by PIX is the cashout that it names, and no other of that amount', async () => {
    await payOut();
    await importFile({ lines: [line('f1', '70.00', { memo: 'PIX RECEBIDO' })] });
    expect((await listLines('open')).map(({ candidates }) => candidates)).toEqual([[]]);
    await importFile({
      lines: [line('f1', '70.00', { memo: 'PIX RECEBIDO' }), line('f2', '70.00', { memo: `PIX RECEBIDO ${E2E}` })],
    });
    expect(await matchesOf()).toEqual([`f2 reference ${CASHOUT}`]);
    expect(await summarize()).toMatchObject({
      withdrawals: { count: 1, amount: '70.00' },
      matched: { count: 0 },
      ledger: '0.00',
    });
  });

  it('can be picked for a cashout that it does not name, of its amount and at most 31 days apart', async () => {
    const { context } = environment;
    await payOut();
    await importFile({
      lines: [line('f1', '70.00'), line('f2', '70.01'), line('f3', '70.00', { day: addDays(day, -32) })],
    });
    const pick = (id: string, transaction = CASHOUT) => pickMatch(context, id, { transaction }, { actor: 'tok' });
    for (const [id, fault] of [
      ['bl_2', 'transaction moves 70.00 in the bank account, and the line 70.01'],
      ['bl_3', `transaction is of ${day}, more than 31 days from the line's ${addDays(day, -32)}`],
    ] as const)
      await expect(pick(id), id).rejects.toMatchObject({ code: 'invalid_request', message: fault });
    await expect(pick('bl_1', 'nobody')).rejects.toThrow('transaction is no paid cashout without a match');
    for (const id of ['bl_9', 'bl_x', '1']) await expect(pick(id), id).rejects.toMatchObject({ code: 'not_found' });
    await pick('bl_1');
    await importFile({ lines: [line('f1', '70.00'), line('f4', '70.00', { memo: 'OUTRA' })] });
    await expect(pick('bl_4')).rejects.toThrow('transaction is no paid cashout without a match');
  });
});

describe('a match', () => {
  it('is undone with a note, and the rules keep its pair apart; a person can make it again', async () => {
    const { context } = environment;
    const adjustment = await withdraw(1000n);
    await importFile({ lines: [line('f1', '10.00')] });
    const undo = (id: string) => undoMatch(context, id, { actor: 'tok', note: 'outra retirada' });
    const id = await undo('bm_1');
    expect(await matchBankLines(context)).toEqual({ reference: 0, amount: 0, not_pix: 0 });
    expect(
      (await listBankMatches(context.db, 10, undefined)).map(({ id: own, state, undoes, undone_by, note }) => ({
        own,
        state,
        undoes,
        undone_by,
        note,
      })),
    ).toEqual([
      { own: id, state: 'undo', undoes: 'bm_1', undone_by: null, note: 'outra retirada' },
      { own: 'bm_1', state: 'undone', undoes: null, undone_by: id, note: null },
    ]);
    for (const one of ['bm_1', id]) await expect(undo(one)).rejects.toMatchObject({ code: 'conflict' });
    await expect(undo('bm_99')).rejects.toMatchObject({ code: 'not_found' });
    await pickMatch(context, 'bl_1', { adjustment }, { actor: 'tok' });
    expect(await matchesOf()).toEqual([`f1 person ${adjustment}`]);
    await expect(sql`UPDATE bank_matches SET line_seq = 2`.execute(context.db)).rejects.toThrow('append-only');
  });

  it('ends when its adjustment is reversed: the line is open again, for the right one', async () => {
    const { context } = environment;
    const wrong = await withdraw(1000n);
    await importFile({ lines: [line('f1', '10.00')] });
    await reverseAdjustment(context, wrong, { note: 'na outra plataforma', actor: 'tok' });
    expect((await listBankMatches(context.db, 10, undefined))[0]).toMatchObject({
      adjustment_id: wrong,
      state: 'reversed',
    });
    expect(await summarize()).toMatchObject({ ledger: '0.00', open_lines: { count: 1 }, open_entries: { count: 0 } });
    const right = await withdraw(1000n, { day: addDays(day, 1) });
    await matchBankLines(context);
    expect(await matchesOf()).toEqual([`f1 amount ${right}`]);
  });

  it('writes no entry: the journal and the books check are as before', async () => {
    const { context } = environment;
    await withdraw(1000n);
    const entries = () => context.db.selectFrom('entries').selectAll().execute();
    const before = await entries();
    await importFile({ lines: [line('f1', '10.00')] });
    await undoMatch(context, 'bm_1', { actor: 'tok', note: 'n' });
    expect(await entries()).toEqual(before);
    expect((await checkBooks(context)).breaks).toEqual([]);
  });
});

describe('a line that is nothing of PIX', () => {
  const account = '341/56789-0';

  it('leaves the open ones by a person, who can undo it; until then it has no match, and a matched one no mark', async () => {
    const { context } = environment;
    await importFile({ lines: [line('f1', '10.00'), line('f2', '-3.00')] });
    expect(await markBankLine(context, 'bl_2', { actor: 'tok', note: 'salário' })).toBe('bl_2');
    const adjustment = await withdraw(-300n);
    await expect(pickMatch(context, 'bl_2', { adjustment }, NOTED)).rejects.toMatchObject({
      reason: 'bank_line_not_pix',
    });
    await expect(markBankLine(context, 'bl_2', NOTED)).rejects.toMatchObject({ reason: 'bank_line_not_pix' });
    await expect(undoMatch(context, 'bm_1', NOTED)).rejects.toMatchObject({ reason: 'bank_match_unknown' });
    expect(await matchBankLines(context)).toEqual({ reference: 0, amount: 0, not_pix: 0 });
    expect((await listLines('open')).map(({ id }) => id)).toEqual(['bl_1']);
    expect(await listLines('not_pix')).toMatchObject([
      { id: 'bl_2', match: null, not_pix: { by_rule: false, note: 'salário', created_by: 'tok' }, candidates: [] },
    ]);
    expect(await summarize()).toMatchObject({
      ...{ open_lines: { count: 1, amount: '10.00' }, not_pix: { count: 1, amount: '-3.00' } },
      accounts: [{ not_pix: { count: 1, amount: '-3.00' } }],
    });
    await unmarkBankLine(context, 'bl_2', NOTED);
    await expect(unmarkBankLine(context, 'bl_2', NOTED)).rejects.toMatchObject({ reason: 'bank_line_unmarked' });
    expect(await matchBankLines(context)).toEqual({ reference: 0, amount: 1, not_pix: 0 });
    await expect(markBankLine(context, 'bl_2', NOTED)).rejects.toMatchObject({ reason: 'bank_line_matched' });
    await expect(markBankLine(context, 'bl_9', NOTED)).rejects.toMatchObject({ reason: 'bank_line_unknown' });
  });

  it('is marked by a text of its account, without regard to case and accents, unless it has a candidate', async () => {
    const { context } = environment;
    await withdraw(-900n);
    const lines = [line('f1', '-3.00', { memo: 'Tarifa  Pacote' }), line('f2', '-4.00', { memo: 'Fólha 10/2026' })];
    await importFile([
      { lines: [...lines, line('f3', '-9.00', { memo: 'TARIFA' }), line('f4', '-9.00', { memo: 'TARIFA' })] },
      { number: '999', lines: [line('f1', '-3.00', { memo: 'TARIFA PACOTE' })] },
    ]);
    await setTexts(['tarifa pac', 'tarifa'], ['FOLHA'], account);
    const marked = async () => (await listLines('not_pix')).map(({ id, not_pix }) => `${id} ${not_pix?.by_rule}`);
    expect(await marked()).toEqual(['bl_1 true', 'bl_2 true']);
    // an import marks too; a mark that a person undid stays undone
    await unmarkBankLine(context, 'bl_2', NOTED);
    const more = { lines: [line('f5', '-7.00', { memo: 'TARIFA AVULSA' })] };
    expect(await importFile(more)).toMatchObject({ matched: { not_pix: 1 } });
    expect(await marked()).toEqual(['bl_1 true', 'bl_6 true']);
    // without its text a line is open again, and with it marked again
    await setTexts(['tarifa avulsa'], [], account);
    expect(await marked()).toEqual(['bl_6 true']);
    await setTexts(['tarifa'], [], account);
    expect(await marked()).toEqual(['bl_1 true', 'bl_6 true']);
  });

  it.each([
    [{ begins: ['ab'], contains: [] }, 'not_pix_texts'],
    [{ begins: [], contains: ['x'.repeat(101)] }, 'not_pix_texts'],
    [{ begins: Array.from({ length: 51 }, (_, index) => `texto ${index}`), contains: [] }, 'not_pix_texts'],
  ])('has texts of a few letters to a line: %#', async (notPix, reason) => {
    const given = { account, notPix, isNew: true, actor: 'tok' };
    await expect(setBankAccount(environment.context, given)).rejects.toMatchObject({ reason });
  });
});

describe('an account', () => {
  const account = '341/56789-0';

  it('has a name that no other has, once a statement shows it or a person says that it is new', async () => {
    const { context } = environment;
    const name = (given: { account?: string; name: string | null; isNew?: boolean }) =>
      setBankAccount(context, { account, actor: 'tok', ...given });
    await expect(name({ name: 'Itaú' })).rejects.toMatchObject({ reason: 'bank_account_unknown' });
    await expect(name({ name: 'Itaú', account: 'x', isNew: true })).rejects.toMatchObject({
      reason: 'bank_account_wrong',
    });
    await importFile({ lines: [line('f1', '10.00')] });
    expect(await name({ name: ' Itaú ' })).toBe(true);
    expect(await name({ name: 'Itaú' })).toBe(false);
    const other = { account: '001/1-2', isNew: true };
    await expect(name({ ...other, name: 'ITAÚ' })).rejects.toMatchObject({ reason: 'bank_account_name_taken' });
    await expect(name({ ...other, name: 'a@b.co' })).rejects.toMatchObject({ reason: 'name_personal' });
    await name({ ...other, name: 'Banco do Brasil' });
    // one that no statement shows has no part in the balance of all
    expect(await summarize()).toMatchObject({ accounts: [{ name: 'Banco do Brasil' }, { name: 'Itaú' }] });
    await name({ name: null });
    expect((await summarize()).accounts[1]?.name).toBeNull();
  });

  it('is where a withdrawal goes: it matches no line of another account, and counts as received before it has a line', async () => {
    const { context } = environment;
    await importFile([{ lines: [line('f1', '-1.00')] }, { number: '999', lines: [line('f2', '10.00')] }]);
    const withdrawn = { platform: 'p', day, kind: 'bank', amountCents: -1000n, note: 'n', actor: 't' } as const;
    const to = (bankAccount: string, kind: 'bank' | 'fee' = 'bank') =>
      adjustBooks(context, { ...withdrawn, kind, bankAccount, newPlatform: true });
    await expect(to('341/1-1')).rejects.toMatchObject({ reason: 'bank_account_unknown' });
    await expect(to(account, 'fee')).rejects.toMatchObject({ reason: 'bank_account_of_other_kind' });
    const adjustment = await to(account);
    expect(await matchBankLines(context)).toMatchObject({ amount: 0 });
    expect(await listOpenBankEntries(context.db, 9, undefined)).toMatchObject([
      { bank_account: account, candidates: [] },
    ]);
    await expect(pickMatch(context, 'bl_2', { adjustment }, NOTED)).rejects.toMatchObject({
      reason: 'other_bank_account',
    });
    const one = { count: 1, amount: '10.00' };
    expect((await summarize()).accounts).toMatchObject([{ received: one, open_entries: one }, { received: NONE }]);
    await importFile({ lines: [line('f3', '10.00')] });
    expect((await summarize()).accounts).toMatchObject([{ received: one, open_entries: NONE, matched: one }, {}]);
    await reverseAdjustment(context, adjustment, { note: 'n', actor: 't' });
    expect((await summarize()).accounts[0]).toMatchObject({ received: NONE, open_entries: NONE });
  });
});

describe('the summary', () => {
  it("shows the bank's balance beside the ledger's, and what explains the difference", async () => {
    await withdraw(50_000n);
    await withdraw(1234n, { day: addDays(day, -5) });
    await payOut();
    await importFile({
      lines: [line('f1', '500.00'), line('f2', '70.00', { memo: E2E }), line('f3', '-12.30'), line('f4', '0.00')],
      balance: { amount: '1557.70', day },
    });
    expect(await summarize()).toEqual({
      ...{ bank: '1557.70', ledger: '512.34', difference: '1045.36' },
      ...{ before_first_line: '1000.00', after_balance: '0.00' },
      withdrawals: { count: 1, amount: '70.00' },
      open_lines: { count: 1, amount: '-12.30' },
      open_entries: { count: 1, amount: '12.34' },
      matched: { count: 1, amount: '500.00' },
      not_pix: NONE,
      closed: false,
      accounts: [
        {
          ...{ account: '341/56789-0', name: null, first_day: day, last_day: day, open_entries: NONE, not_pix: NONE },
          ...{ lines: { count: 4, amount: '557.70' }, received: { count: 2, amount: '570.00' } },
          ...{ matched: { count: 1, amount: '500.00' }, withdrawals: { count: 1, amount: '70.00' } },
          open_lines: { count: 1, amount: '-12.30' },
          ...{ balance: '1557.70', balance_day: day, gaps: [] },
        },
      ],
    });
  });

  it('finds lines that are missing between two balances, and none where a file ended in the middle of a day', async () => {
    const [next, between, later] = [addDays(day, 1), addDays(day, 2), addDays(day, 3)];
    await importFile({ lines: [line('f1', '10.00')], balance: { amount: '110.00', day } });
    // more of the same day, in the next file
    await importFile({
      lines: [line('f2', '5.00'), line('f3', '1.00', { day: next })],
      balance: { amount: '116.00', day: next },
    });
    expect((await summarize()).accounts[0]?.gaps).toEqual([]);
    await importFile({ lines: [line('f5', '2.00', { day: later })], balance: { amount: '125.50', day: later } });
    expect((await summarize()).accounts[0]?.gaps).toEqual([{ from: next, to: later, amount: '7.50' }]);
    // the missing line comes later
    await importFile({ lines: [line('f4', '7.50', { day: between })] });
    expect((await summarize()).accounts[0]?.gaps).toEqual([]);
  });

  it('adds up to the cent after any entries, imports, matches, reversals and undone matches', async () => {
    const random = drawFrom(chooseSeed(20_261_123));
    const { context } = environment;
    const adjustments: string[] = [];
    for (let round = 0; round < numRuns(30, 400); round++) {
      const at = addDays(day, random(5));
      const cents = BigInt(random(3) + 1) * 100n;
      const action = random(8);
      if (action === 0) adjustments.push(await withdraw(random(2) === 0 ? cents : -cents, { day: at }));
      if (action === 1)
        await importBank(
          context,
          {
            number: `${random(2)}`,
            lines: Array.from({ length: 3 }, (_, index) =>
              line(`r${round}-${index}`, `${random(2) === 0 ? '' : '-'}${random(3) + 1}.00`, {
                ...{ day: at, memo: random(2) === 0 ? 'TED' : 'DOC' },
              }),
            ),
            balance: { amount: `${random(1000)}.00`, day: at },
          },
          // a file of a day that an earlier one had lacks that one's lines
          { other_lines: 'true' },
        );
      const [match] = (await listBankMatches(context.db, 50, undefined)).filter(({ state }) => state === 'matched');
      if (action === 2 && match) await undoMatch(context, match.id, { actor: 'tok', note: 'n' });
      const reversed = adjustments[random(adjustments.length + 1)];
      if (action === 3 && reversed)
        await reverseAdjustment(context, reversed, { note: 'n', actor: 'tok' }).catch(() => undefined);
      if (action === 4) await matchBankLines(context);
      const [open, marked] = [(await listLines('open'))[0], (await listLines('not_pix'))[0]];
      if (action === 5 && open) await markBankLine(context, open.id, NOTED);
      if (action === 6 && marked) await unmarkBankLine(context, marked.id, NOTED);
      if (action === 7) await setTexts(random(2) === 0 ? ['TED'] : []);
      const sums = await summarizeBank(context.db);
      const { ledgerCents, matched, withdrawals, openLines, openEntries, notPix } = sums;
      expect(ledgerCents, 'what is matched and open is the ledger').toBe(matched.cents + openEntries.cents);
      const explained =
        sums.beforeCents + withdrawals.cents + openLines.cents + notPix.cents - openEntries.cents - sums.afterCents;
      for (const one of sums.accounts)
        expect(one.lines.cents, one.account).toBe(
          one.matched.cents + one.withdrawals.cents + one.openLines.cents + one.notPix.cents,
        );
      if (sums.bankCents !== null) expect(sums.bankCents - ledgerCents).toBe(explained);
    }
  });
});

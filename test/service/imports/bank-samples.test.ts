/** Statements as banks really write them, after public reports: nothing appears, doubles or vanishes, and what is open is asked. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Context } from '../../../src/context.ts';
import type { Answers } from '../../../src/imports/import-kind.ts';
import { listBankLines } from '../../../src/ledger/bank/list-bank-lines.ts';
import { summarizeBank } from '../../../src/ledger/bank/summarize-bank.ts';
import { importBank } from '../../support/import-bank.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';

const folder = path.resolve(import.meta.dirname, '../../fixtures/bank-files');
const sample = (name: string): Buffer => readFileSync(path.join(folder, name));
const edit = (name: string, ...changes: [string | RegExp, string][]): Buffer =>
  Buffer.from(
    changes.reduce((text, [from, to]) => text.replaceAll(from, to), sample(name).toString('latin1')),
    'latin1',
  );

let environment: TestEnvironment;
beforeEach(async () => {
  environment = await openEnvironment();
});
afterEach(() => environment[Symbol.asyncDispose]());

/** The context on a day after the samples were written. */
const on = (day: string): Context => ({
  ...environment.context,
  clock: { ...environment.context.clock, now: () => new Date(`${day}T15:00:00Z`) },
});
const take = (file: string | Buffer, answers: Answers = {}, day = '2026-11-26') =>
  importBank(on(day), typeof file === 'string' ? sample(file) : file, answers);
const refusal = async (file: string | Buffer, answers: Answers = {}): Promise<string> => {
  const before = await listLines();
  const message = await take(file, answers).then(
    (made) => `taken: ${JSON.stringify(made.statements)}`,
    (error: Error) => error.message,
  );
  expect(await listLines(), 'nothing is stored').toEqual(before);
  return message;
};
const listLines = async () =>
  (await listBankLines(environment.context.db, 100, undefined))
    .map(({ day, amount, name, memo }) => `${day.slice(8)} ${amount} ${[name, memo].filter(Boolean).join(' ')}`)
    .reverse();
const listAccounts = async () =>
  (await summarizeBank(environment.context.db)).accounts.map(({ account, balance, gaps }) => ({
    account,
    balance: balance && `${balance.day.slice(8)} ${balance.cents}`,
    gaps: gaps.length,
  }));

describe('lines are known by what they are', () => {
  it('also with FITIDs that are new at each download (Santander)', async () => {
    expect((await take('01a-santander-download-1.ofx')).statements).toMatchObject([{ new: 3, known: 0 }]);
    expect((await take('01b-santander-download-2.ofx')).statements).toMatchObject([
      { new: 1, known: 3, renumbered: 3 },
    ]);
    const lines = await listLines();
    expect(lines.map((line) => line.split(' ')[1])).toEqual(['1500.00', '-49.90', '2500.00', '310.15']);
    expect(await listAccounts()).toMatchObject([{ gaps: 0 }]);
    // the first download again, with FITIDs of a third one, brings nothing
    const third = edit('01a-santander-download-1.ofx', ['<FITID>', '<FITID>9']);
    expect((await take(third)).statements).toMatchObject([{ new: 0, known: 3 }]);
  });

  it('also with FITIDs that are positions within a day (Inter)', async () => {
    const noon = await take('07a-inter-at-noon.ofx');
    const evening = await take('07b-inter-in-the-evening.ofx');
    const [first, second] = [noon.statements[0], evening.statements[0]];
    expect(second).toMatchObject({ known: first?.new, new: (second?.lines ?? 0) - (first?.lines ?? 0) });
    expect(await listLines()).toHaveLength(second?.lines ?? 0);
    // the file of noon comes again from another folder
    expect((await take(edit('07a-inter-at-noon.ofx', ['NEWFILEUID:NONE', 'NEWFILEUID:1']))).statements).toMatchObject([
      { new: 0 },
    ]);
  });

  it('and swaps no payer where amounts are equal (Inter)', async () => {
    await take('07c-inter-equal-amounts-noon.ofx');
    expect((await take('07d-inter-equal-amounts-evening.ofx')).statements).toMatchObject([{ new: 1, known: 1 }]);
    expect(await listLines()).toEqual([
      '06 50.00 Beltrano Pix recebido: "Cp :33333333-BELTRANO"',
      '06 50.00 Sicrano Pix recebido: "Cp :44444444-SICRANO"',
    ]);
  });

  it('where one file repeats a FITID (Banco do Brasil); lines that are equal in all are asked about', async () => {
    expect((await take('23-banco-do-brasil-repeated-fitid.ofx')).statements).toMatchObject([{ new: 3 }]);
    expect((await listLines()).map((line) => line.split(' ')[1])).toEqual(['-100.00', '-250.00', '75.00']);
    const again = edit('23-banco-do-brasil-repeated-fitid.ofx', ['NEWFILEUID:NONE', 'NEWFILEUID:2']);
    expect((await take(again)).statements).toMatchObject([{ new: 0, known: 3 }]);
    const twice = edit(
      '23-banco-do-brasil-repeated-fitid.ofx',
      ['-250.00', '-7.00'],
      ['75.00', '-7.00'],
      [/<MEMO>Pix - (?:Enviado 03\/11 11|Recebido).*/g, '<MEMO>TARIFA\r'],
      ['20261103', '20261104'],
    );
    expect(await refusal(twice)).toMatch(/line \d+: line \d+ is equal in all, also in its FITID: other_lines=true/);
    expect((await take(twice, { other_lines: 'true' })).statements).toMatchObject([{ new: 3 }]);
    expect((await take(Buffer.concat([twice, Buffer.from('\n')]))).statements).toMatchObject([{ new: 0, known: 3 }]);
  });

  it('where the spacing of a text differs', async () => {
    expect((await take('28a-csv-spacing-first.csv')).statements).toMatchObject([{ new: 2 }]);
    expect((await take('28b-csv-spacing-second.csv')).statements).toMatchObject([{ new: 0, known: 2 }]);
    expect(await listLines()).toHaveLength(2);
    const wide = edit('28a-csv-spacing-first.csv', ['TARIFA MENSALIDADE', ' TARIFA   MENSALIDADE ']);
    expect((await take(wide)).statements).toMatchObject([{ new: 0, known: 2 }]);
  });

  it('and a line whose text the bank cut, or added to, is asked about', async () => {
    await take('01a-santander-download-1.ofx');
    const cut = edit('01b-santander-download-2.ofx', ['TED RECEBIDA PROVEDOR PIX', 'TED RECEBIDA PROVEDOR']);
    expect(await refusal(cut)).toMatch(
      /the file lacks a stored line of this amount .*: other_lines=true \(--other-lines\)/,
    );
    // by its FITID it is the stored one
    const kept = edit('01a-santander-download-1.ofx', ['TED RECEBIDA PROVEDOR PIX', 'TED RECEBIDA']);
    expect((await take(kept)).statements).toMatchObject([{ new: 0, known: 3 }]);
  });
});

describe('an amount without a sign', () => {
  it('of a debit is never money in: it is refused with its line, negated when a person says so', async () => {
    const message = await refusal('02-amounts-without-sign.ofx');
    expect(message).toMatch(/line \d+: DEBIT says money out, and the amount has no sign: signs=by_type\|as_written/);
    expect(message).toMatch(/line \d+: SRVCHG says money out/);
    expect((await take('02-amounts-without-sign.ofx', { signs: 'by_type' })).statements).toMatchObject([
      { negated: 2 },
    ]);
    expect(await listLines()).toEqual([
      '03 900.00 PIX RECEBIDO',
      '03 -350.00 PAGAMENTO FORNECEDOR',
      '04 -12.50 TARIFA PIX',
    ]);
  });

  it('is negated where an earlier balance, or a row with it, proves that', async () => {
    const row =
      '<STMTTRN><TRNTYPE>OTHER<DTPOSTED>20261101<TRNAMT>1000.00<FITID><MEMO>SALDO ANTERIOR</STMTTRN><STMTTRN>';
    const file = sample('02-amounts-without-sign.ofx').toString('latin1').replace('<STMTTRN>', row);
    expect((await take(Buffer.from(file))).statements).toMatchObject([
      { negated: 2, balance: '1537.50', balance_rows: 1 },
    ]);
    const next = edit(
      '02-amounts-without-sign.ofx',
      ['20261103', '20261106'],
      ['20261104', '20261107'],
      ['20261105', '20261107'],
      ['1537.50', '2075.00'],
      ['<FITID>A', '<FITID>B'],
      ['<DTSTART>20261101', '<DTSTART>20261106'],
    );
    expect((await take(next)).statements).toMatchObject([{ negated: 2, new: 3 }]);
    expect(await listAccounts()).toMatchObject([{ balance: '07 207500', gaps: 0 }]);
  });

  it.each(['PAYMENT', 'FEE', 'CHECK', 'DIRECTDEBIT', 'ATM', 'POS', 'CASH', 'REPEATPMT', 'debit', 'DÉBITO'])(
    'is asked about for %s',
    async (type) => {
      const file = edit('02-amounts-without-sign.ofx', ['<TRNTYPE>DEBIT', `<TRNTYPE>${type}`]);
      expect(await refusal(file)).toMatch(new RegExp(`${type} (?:says|may be) money out`));
    },
  );

  it('of an ATM is taken as written where the bank writes signs', async () => {
    const file = edit('02-amounts-without-sign.ofx', ['<TRNTYPE>DEBIT', '<TRNTYPE>ATM'], ['12.50', '-12.50']);
    expect((await take(file)).statements).toMatchObject([{ new: 3, negated: 0 }]);
  });
});

describe('a balance', () => {
  it('without decimals beside amounts with them is asked about (Itaú)', async () => {
    expect(await refusal('03-itau-balamt-without-separator.ofx')).toMatch(
      /line \d+: the balance has no decimals, .*: balance=cents\|as_written\|leave_out \(--balance\)/,
    );
    const made = await take('03-itau-balamt-without-separator.ofx', { balance: 'cents' });
    expect(made.statements).toMatchObject([{ balance: '12345.67', balance_day: '2026-11-04' }]);
    // the next one is proven by it
    const next = edit(
      '03-itau-balamt-without-separator.ofx',
      [/20261103/g, '20261106'],
      [/20261104/g, '20261107'],
      ['<BALAMT>1234567', '<BALAMT>1364567'],
      ['<DTSTART>20261101', '<DTSTART>20261106'],
    );
    expect((await take(next)).statements).toMatchObject([{ balance: '13645.67', new: 2 }]);
    expect(await listAccounts()).toMatchObject([{ gaps: 0 }]);
  });

  it('without decimals may be of whole reais, or left out', async () => {
    const whole = await take('03-itau-balamt-without-separator.ofx', { balance: 'as_written' });
    expect(whole.statements).toMatchObject([{ balance: '1234567.00', balance_left_out: false }]);
    const file = edit('03-itau-balamt-without-separator.ofx', ['<BALAMT>1234567', '<BALAMT>99']);
    expect((await take(file, { balance: 'leave_out' })).statements).toMatchObject([
      { balance: null, balance_left_out: true },
    ]);
  });

  it('of the end of the month is of the last day that the file shows (Sicredi), also after that month', async () => {
    await take('06a-sicredi-dtasof-end-of-month-day-6.ofx', {}, '2026-11-06');
    expect(await listAccounts()).toMatchObject([{ balance: '06 600000' }]);
    await take('06b-sicredi-dtasof-end-of-month-day-20.ofx', {}, '2026-12-09');
    expect(await listAccounts()).toEqual([{ account: '748/39500000000156390', balance: '20 560000', gaps: 0 }]);
  });

  it('of another day to come is of the last day that the file shows, and left out beside lines to come', async () => {
    const file = edit('06a-sicredi-dtasof-end-of-month-day-6.ofx', ['20261130', '20261212']);
    expect((await take(file)).statements).toMatchObject([{ balance: '6000.00', balance_day: '2026-11-06' }]);
    const both = edit('05a-banrisul-with-scheduled.ofx', ['<DTASOF>20261105', '<DTASOF>20261130']);
    expect((await take(both)).statements).toMatchObject([
      { new: 1, later_lines: 1, balance: null, balance_left_out: true },
    ]);
  });
});

describe('lines to come', () => {
  it('are left out by name, and stored once they are posted (Banrisul)', async () => {
    expect((await take('05a-banrisul-with-scheduled.ofx')).statements).toMatchObject([
      { new: 1, later_lines: 1, later: [{ day: '2026-11-17', amount: '-1478.51' }], balance: '5300.00' },
    ]);
    expect((await take('05b-banrisul-after-posting.ofx')).statements).toMatchObject([
      { new: 1, known: 1, later_lines: 0 },
    ]);
    expect(await listLines()).toEqual([
      '03 300.00 PIX RECEBIDO PIX RECEBIDO',
      '17 -1478.51 PAGAMENTO CONSORCIO PAGAMENTO CONSORCIO',
    ]);
    expect(await listAccounts()).toMatchObject([{ balance: '18 382149', gaps: 0 }]);
  });

  it('are those after today too; a person may say that lines after the balance are posted', async () => {
    const late = edit('05a-banrisul-with-scheduled.ofx', [/<DT(END|ASOF)>20261105/g, '<DT$1>20261130']);
    expect((await take(late, {}, '2026-11-10')).statements).toMatchObject([{ new: 1, later_lines: 1 }]);
    const posted = await take('05a-banrisul-with-scheduled.ofx', { later_lines: 'true' });
    expect(posted.statements).toMatchObject([{ new: 1, known: 1, later_lines: 0 }]);
  });
});

describe('an account', () => {
  it('that is spelled in another way is asked about before it becomes a second one (Bradesco)', async () => {
    await take('04a-bradesco-account-without-digit.ofx');
    const other = '04b-bradesco-account-with-digit.ofx';
    expect(await refusal(other)).toMatch(
      /no statement shows this account, which may be 0237\/513\/16865: .*: account=… \(--account\) or new_account=true \(--new-account\)/,
    );
    const made = await take(other, { account: '0237/513/16865' });
    expect(made.statements).toMatchObject([{ account: '0237/513/16865', known: 1 }]);
    // the spelling is known from now on
    expect((await take(edit(other, ['NEWFILEUID:NONE', 'NEWFILEUID:1']))).statements).toMatchObject([
      { account: '0237/513/16865', new: 0 },
    ]);
    expect(await listAccounts()).toHaveLength(1);
  });

  it.each(['0237/16865', '237/513/0000168653', '237/513/16865-3', '237/51316865', '00237/0513-1/16.865'])(
    'is asked about as %s, and may be a new one',
    async (account) => {
      await take('04a-bradesco-account-without-digit.ofx');
      const [bank = '', branch, number] =
        account.split('/').length === 3 ? account.split('/') : [account.split('/')[0], '', account.split('/')[1]];
      const file = edit(
        '04b-bradesco-account-with-digit.ofx',
        [/<BANKID>.*/g, `<BANKID>${bank}\r`],
        [/<BRANCHID>.*/g, branch === '' ? '' : `<BRANCHID>${branch}\r`],
        [/<ACCTID>.*/g, `<ACCTID>${number}\r`],
      );
      expect(await refusal(file)).toContain('which may be 0237/513/16865');
      expect((await take(file, { new_account: 'true' })).statements).toMatchObject([{ account }]);
    },
  );

  it('of another number is a second one without a question', async () => {
    await take('04a-bradesco-account-without-digit.ofx');
    expect((await take('01a-santander-download-1.ofx')).statements).toMatchObject([
      { account: '033/13001234567', new: 3 },
    ]);
    expect(await listAccounts()).toHaveLength(2);
  });

  it('and a currency that the file lacks are asked for', async () => {
    const message = await refusal('34-no-bankid-no-curdef.ofx');
    expect(message).toMatch(/line \d+: CURDEF is missing: say that the amounts are in BRL: currency=BRL/);
    expect(message).toMatch(/line \d+: BANKID is missing: give bank, branch and number: account=… \(--account\)/);
    expect(await refusal('34-no-bankid-no-curdef.ofx', { currency: 'BRL', account: '556677-8' })).toContain(
      'must be bank, branch',
    );
    const answers = { currency: 'BRL', account: '999/0001/556677-8' };
    expect((await take('34-no-bankid-no-curdef.ofx', answers)).statements).toMatchObject([
      { account: '999/0001/556677-8', new: 1 },
    ]);
    const next = edit(
      '34-no-bankid-no-curdef.ofx',
      ['<FITID>F1', '<FITID>F2'],
      ['20261103', '20261104'],
      ['<DTSTART>20261101', '<DTSTART>20261104'],
    );
    expect((await take(next, { currency: 'BRL' })).statements).toMatchObject([
      { account: '999/0001/556677-8', new: 1 },
    ]);
  });
});

describe('rows that show a balance', () => {
  it('are no transactions, also with a FITID (Itaú)', async () => {
    expect((await take('08-itau-daily-balances-with-fitid.ofx')).statements).toMatchObject([
      { new: 1, balance_rows: 2, balance: '12567.00' },
    ]);
    expect(await listLines()).toEqual(['03 1500.00 PIX TRANSF FULANO 03/11']);
  });

  it.each([
    'SALDO DO DIA',
    'S A L D O',
    'S.A.L.D.O.',
    'SDO DISPONIVEL',
    'SLD DO DIA',
    '*** Saldo disponível ***',
    'SALDO EM C/C 03/11',
    'SALDO APLIC AUT MAIS',
  ])('are known by %s', async (text) => {
    const file = edit('08-itau-daily-balances-with-fitid.ofx', ['SALDO TOTAL DISPONIVEL DIA', text]);
    expect((await take(file)).statements).toMatchObject([{ new: 1, balance_rows: 2 }]);
  });

  it('are asked about where a payment may have the text', async () => {
    const file = edit('08-itau-daily-balances-with-fitid.ofx', [
      'SALDO TOTAL DISPONIVEL DIA',
      'SALDO PEDIDO 77 FULANO',
    ]);
    expect(await refusal(file)).toMatch(
      /may be that of a balance, a total or a payment: balance_rows=leave_out\|lines/,
    );
    expect((await take(file, { balance_rows: 'lines' })).statements).toMatchObject([{ new: 2, balance_rows: 1 }]);
  });
});

describe('what would appear, double or vanish', () => {
  const name = '22-amounts-with-trailing-zeros.ofx';

  it('is asked about where the name is that of a balance, beside another text', async () => {
    const file = edit(name, ['<MEMO>TARIFA', '<NAME>SALDO DO DIA\n<MEMO>Conta'], ['-8.95000', '1500.00']);
    expect(await refusal(file)).toContain('balance_rows=leave_out|lines');
  });

  it.each([
    ['</BANKTRANLIST>', ''],
    ['<BANKTRANLIST>', '</BANKTRANLIST>'],
  ])('is a fault where a transaction stands outside of the list', async (...tags) => {
    const row = '<STMTTRN><TRNTYPE>OTHER<DTPOSTED>20261103<TRNAMT>1.00<FITID>Z<MEMO>PIX</STMTTRN>';
    const file =
      tags[1] === ''
        ? edit(name, [tags[0] ?? '', `${tags[0]}${row}`])
        : edit(name, [/<\/?BANKTRANLIST>|<DT(?:START|END)>\d+/g, '']);
    expect(await refusal(file)).toMatch(/line \d+: a transaction \(STMTTRN\) stands outside/);
  });

  it.each(['DEBITO AUTOMATICO', 'DEB.', 'SAÍDA', 'OUT', 'Tarifa'])('is asked about for the type %s', async (type) => {
    const file = edit('02-amounts-without-sign.ofx', ['<TRNTYPE>DEBIT', `<TRNTYPE>${type}`]);
    expect(await refusal(file)).toContain('says money out');
  });

  it.each([
    ['12345-X', '123450'],
    ['56789-0', '01300056789-0'],
    ['567890', '1234013000567890'],
  ])('is asked about where the account %s may be %s', async (number, other) => {
    const of = (one: string) => edit('04a-bradesco-account-without-digit.ofx', [/<ACCTID>.*/g, `<ACCTID>${one}\r`]);
    await take(of(number));
    expect(await refusal(of(other))).toContain('which may be');
  });
});

describe('a form that banks write', () => {
  it.each([
    ['21-caixa-bradesco-stmttrn-never-closed.ofx', ['03 500.00 CRED PIX', '04 -45.90 PAG BOLETO']],
    ['22-amounts-with-trailing-zeros.ofx', ['03 -8.95 TARIFA', '04 24.99 PIX RECEBIDO']],
    [
      '11-utf8-memo-cut-within-a-letter.ofx',
      ['03 10.00 PIX RECEBIDO JOÃO DA CONCEIÇÃO', '04 20.00 TRANSFERÊNCIA RECEBIDA SÃO JOSÉ COM\ufffd'],
    ],
    ['32a-header-in-a-comment.ofx', ['03 10.00 PIX RECEBIDO']],
    ['32b-no-header-at-all.ofx', ['03 10.00 PIX RECEBIDO']],
    ['32c-ctrl-z-at-the-end.ofx', ['03 10.00 PIX RECEBIDO']],
    ['32d-two-documents-in-one-file.ofx', ['03 10.00 PIX RECEBIDO', '04 10.00 PIX RECEBIDO']],
    ['32e-utf8-bom-before-windows-1252.ofx', ['03 10.00 PIX RECEBIDO JOÃO']],
    ['32f-xml-header-over-sgml-body.ofx', ['03 10.00 PIX RECEBIDO']],
    ['33-markup-in-memo.ofx', ['03 10.00 PIX RECEBIDO<BR/>03 NOV 2026 CLIENTE UM', '04 20.00 AJUSTE VALOR < 100']],
  ] as const)('is taken: %s', async (name, lines) => {
    await take(name);
    expect(await listLines()).toEqual(lines);
  });

  it('of three documents, one with the lines of another, has each line once', async () => {
    const [one, other] = [
      sample('32a-header-in-a-comment.ofx'),
      edit('32c-ctrl-z-at-the-end.ofx', ['20261103', '20261102'], ['<FITID>E1', '<FITID>E0']),
    ];
    expect((await take(Buffer.concat([one, other, one]))).statements.map((made) => made.new)).toEqual([1, 1, 0]);
  });

  it('is refused where an amount has a fraction of a cent, or a file is of a credit card', async () => {
    expect(await refusal(edit('22-amounts-with-trailing-zeros.ofx', ['-8.95000', '-8.95100']))).toMatch(
      /line \d+: TRNAMT must be an amount with at most two decimals/,
    );
    expect(await refusal(edit('22-amounts-with-trailing-zeros.ofx', ['24,9900', '1.500']))).toContain('TRNAMT must be');
    const card = edit(
      '22-amounts-with-trailing-zeros.ofx',
      ['BANKMSGSRSV1', 'CREDITCARDMSGSRSV1'],
      ['STMTRS', 'CCSTMTRS'],
    );
    expect(await refusal(card)).toMatch(/line \d+: it is the statement of a credit card/);
  });

  it('is refused where the file is cut off, also with transactions that are never closed', async () => {
    const name = '21-caixa-bradesco-stmttrn-never-closed.ofx';
    const whole = sample(name);
    const end = whole.indexOf('</OFX>');
    for (const at of [end, whole.indexOf('<LEDGERBAL>'), whole.indexOf('-45.90')])
      expect(await refusal(whole.subarray(0, at))).toContain('is not closed');
  });
});

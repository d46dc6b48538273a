/** A bank's own CSV: its columns are mapped once for an account, and read by them alone; what is unclear is a fault by its line. */
import { describe, expect, it, test } from 'vitest';
import { ImportRefusedError } from '../../../src/imports/import-kind.ts';
import { listBankLines } from '../../../src/ledger/bank/list-bank-lines.ts';
import { setBankAccount } from '../../../src/ledger/stated/bank-accounts.ts';
import type { BankCsv } from '../../../src/ledger/stated/check-bank-csv.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { importBank } from '../../support/import-bank.ts';
import { openEnvironment } from '../../support/open-environment.ts';

const env = closeAfterAll(await openEnvironment());
let made = 0;

const ITAU: BankCsv = {
  ...{ separator: ';', header: ['Data', 'Histórico', 'Docto', 'Valor (R$)', 'Saldo'] },
  ...{ parts: ['day', 'text', 'number', 'amount', 'balance'] },
  ...{ days: 'dd/mm/yyyy', decimals: 'comma', signs: 'as_written' },
};
const HEADER = 'Data;Histórico;Docto;Valor (R$);Saldo';

/** Maps the columns of a new account, and imports a file of it. */
async function read(csv: BankCsv, text: string) {
  const account = `341/${++made}`;
  await setBankAccount(env.context, { account, csv, isNew: true, actor: 'test' });
  const outcome = await importBank(env.context, `${text}\n`, { account });
  const lines = (await listBankLines(env.context.db, 99, undefined, { account })).reverse();
  const shown = lines.map(({ day, amount, memo, check_number }) => [day, amount, memo, check_number].join('|'));
  return { account, outcome, shown };
}
async function faultsOf(csv: BankCsv, text: string): Promise<string[]> {
  const error: unknown = await read(csv, text).catch((reason: unknown) => reason);
  if (!(error instanceof ImportRefusedError)) throw new Error('it was taken', { cause: error });
  return error.faults.map(({ row, column, kind }) => `${row} ${column} ${kind}`);
}

test('a preamble, a balance before, a total and a note are left out, and the rest are lines', async () => {
  const { outcome, shown } = await read(
    ITAU,
    [
      ...['Extrato de conta corrente', 'Agência;1234;Conta;56789-0', '31/10/2026', '', HEADER],
      ...['01/10/2026;SALDO ANTERIOR;;;1.000,00', '02/10/2026;TED RECEBIDA;000123;1.234,56;2.234,56'],
      ...['02/10/2026;TARIFA  PACOTE;;-34,56;2.200,00', 'Total;;;1.200,00;', 'Saldo final;;;;2.200,00'],
      'Os dados acima são de consulta',
    ].join('\r\n'),
  );
  expect(shown).toEqual(['2026-10-02|1234.56|TED RECEBIDA|000123', '2026-10-02|-34.56|TARIFA  PACOTE|']);
  expect(outcome.statements).toMatchObject([
    { balance: '2200.00', balance_day: '2026-10-02', balance_rows: 2, new: 2 },
  ]);
});

describe('amounts', () => {
  const two: BankCsv = {
    ...{ separator: ',', header: ['Date', 'Memo', 'Credit', 'Debit'], parts: ['day', 'text', 'in', 'out'] },
    ...{ days: 'yyyymmdd', decimals: 'point', signs: 'as_written' },
  };
  const letter: BankCsv = {
    ...{ separator: '\t', header: ['Dt', 'Lançamento', 'Valor', 'D/C', 'Detalhe'] },
    ...{ parts: ['day', 'text', 'amount', 'side', 'text'], days: 'dd/mm/yy', decimals: 'cents', signs: 'as_written' },
  };

  it('stand in two columns, or have a letter beside them, or the sign of the bank', async () => {
    const pair = 'Date,Memo,Credit,Debit\n20261002,PIX,"1,500.00",\n20261003,FEE,0.00,9.9\n20261004,FEE,,-1';
    expect((await read(two, pair)).shown).toEqual([
      '2026-10-02|1500.00|PIX|',
      '2026-10-03|-9.90|FEE|',
      '2026-10-04|-1.00|FEE|',
    ]);
    const sided = 'Dt\tLançamento\tValor\tD/C\tDetalhe\n02/10/26\tTED\t150000\tC\tJoão\n03/10/26\tDOC\t990\tDébito\t';
    expect((await read(letter, sided)).shown).toEqual(['2026-10-02|1500.00|TED João|', '2026-10-03|-9.90|DOC|']);
    const reversed = `${HEADER}\n02/10/2026 10:33;COMPRA;;10,00;\n03/10/2026;PAGAMENTO RECEBIDO;;-4,00;`;
    expect((await read({ ...ITAU, signs: 'reversed' }, reversed)).shown).toEqual([
      '2026-10-02|-10.00|COMPRA|',
      '2026-10-03|4.00|PAGAMENTO RECEBIDO|',
    ]);
  });

  it.each([
    ['another decimal mark', ITAU, `${HEADER}\n02/10/2026;A;;1,234.56;`, ['2 amount csv_amount']],
    [
      'a letter beside an amount whose sign is the other way round',
      { ...ITAU, signs: 'reversed' as const },
      `${HEADER}\n02/10/2026;A;;1,00 D;\n02/10/2026;B;;R$ 1,00C;`,
      ['2 amount csv_amount', '3 amount csv_amount'],
    ],
    ['three decimals', ITAU, `${HEADER}\n02/10/2026;A;;1,234;`, ['2 amount csv_amount']],
    ['none', ITAU, `${HEADER}\n02/10/2026;A;;;`, ['2 amount missing']],
    [
      'decimals in a file of cents',
      letter,
      'Dt\tLançamento\tValor\tD/C\tDetalhe\n02/10/26\tA\t1,00\tC\t',
      ['2 amount csv_amount'],
    ],
    ['no letter', letter, 'Dt\tLançamento\tValor\tD/C\tDetalhe\n02/10/26\tA\t100\t\t', ['2 amount csv_amount']],
    [
      'a sign against its letter',
      letter,
      'Dt\tLançamento\tValor\tD/C\tDetalhe\n02/10/26\tA\t-100\tC\t',
      ['2 amount csv_amount'],
    ],
    ['money in and out at once', two, 'Date,Memo,Credit,Debit\n20261002,A,1.00,2.00', ['2 amount csv_amount']],
    [
      'another form of day',
      ITAU,
      `${HEADER}\n2026-10-02;A;;1,00;\n03/10/26;B;;1,00;`,
      ['2 day csv_day', '3 day csv_day'],
    ],
    ['a day that there is not', ITAU, `${HEADER}\n31/02/2026;A;;1,00;`, ['2 day csv_day']],
    ['no day', ITAU, `${HEADER}\n;A;;1,00;\n02/10/2026;B;;1,00;`, ['2 day missing']],
    ['a field too many', ITAU, `${HEADER}\n02/10/2026;A;;1,00;;x`, ['2 null extra_cell']],
    [
      'balances that the amounts do not make',
      ITAU,
      `${HEADER}\n02/10/2026;A;;1,00;5,00\n03/10/2026;B;;1,00;9,00`,
      ['0 null csv_balance'],
    ],
    ['another title', ITAU, `${HEADER.replace('Docto', 'Doc.')}\n02/10/2026;A;;1,00;`, ['0 null csv_header']],
    [
      'titles in another order',
      ITAU,
      'Histórico;Data;Docto;Valor (R$);Saldo\nA;02/10/2026;;1,00;',
      ['0 null csv_header'],
    ],
    ['a title more', ITAU, `${HEADER};Tipo\n02/10/2026;A;;1,00;;x`, ['0 null csv_header']],
    ['a line above the header', ITAU, `01/10/2026;A;;1,00;\n${HEADER}\n02/10/2026;A;;1,00;`, ['1 null above_header']],
    ['open quotes below it', ITAU, `${HEADER}\n02/10/2026;"A;;1,00;`, ['0 null unreadable']],
  ])('%s is refused by its line', async (_what, csv, text, faults) => {
    expect(await faultsOf(csv, text)).toEqual(faults);
  });
});

describe('a column of C and D that nothing reads', () => {
  const HEAD = 'Data;Lançamento;Valor;Natureza';
  const csvOf = (side: BankCsv['parts'][number], more: Partial<BankCsv> = {}): BankCsv => ({
    ...{ ...ITAU, header: HEAD.split(';'), parts: ['day', 'text', 'amount', side] },
    ...more,
  });
  const SIDED = `${HEAD}\n01/10/2026;SALDO ANTERIOR;-9,00;\n02/10/2026;SUPRIMENTOS;120,00;D\n03/10/2026;TED;5,00;C`;

  it('refuses amounts without a sign that it says otherwise, also with an answer', async () => {
    const fault = { row: 0, column: null, kind: 'csv_side', value: 'Natureza' };
    for (const csv of [csvOf(null), csvOf('text'), csvOf(null, { signs: 'reversed' })])
      await expect(read(csv, SIDED)).rejects.toMatchObject({ faults: [fault] });
    const untitled = read(
      { ...csvOf(null), header: ['Data', '', 'Valor', 'Texto'], parts: ['day', null, 'amount', 'text'] },
      'Data;;Valor;Texto\n02/10/2026;D;1,00;A',
    );
    await expect(untitled).rejects.toMatchObject({ faults: [{ kind: 'csv_side', value: '2' }] });
    const [account, csv] = ['341/77', csvOf(null)];
    await setBankAccount(env.context, { account, csv, isNew: true, actor: 'test' });
    const answered = importBank(env.context, SIDED, { account, signs: 'by_type' });
    await expect(answered).rejects.toMatchObject({ faults: [fault] });
  });

  it('is as good where it is read, or amounts have signs, or it says the same', async () => {
    expect((await read(csvOf('side'), SIDED)).shown).toEqual([
      '2026-10-02|-120.00|SUPRIMENTOS|',
      '2026-10-03|5.00|TED|',
    ]);
    const signed = SIDED.replace('120,00', '-120,00');
    expect((await read(csvOf(null), signed)).shown).toEqual([
      '2026-10-02|-120.00|SUPRIMENTOS|',
      '2026-10-03|5.00|TED|',
    ]);
    expect((await read(csvOf(null), `${HEAD}\n03/10/2026;TED;5,00;C`)).shown).toHaveLength(1);
    expect((await read(csvOf(null), `${HEAD}\n03/10/2026;TED;5,00;-`)).shown).toHaveLength(1);
  });
});

test('an amount that may be money out where no amount has a sign is a fault of its column', async () => {
  expect(await faultsOf(ITAU, `${HEADER}\n02/10/2026;TARIFA PACOTE;;1,00;`)).toEqual(['2 amount no_signs']);
});

test('a file may have more rows than a template, as an OFX has', async () => {
  const rows = Array.from({ length: 2_001 }, (_, index) => `02/10/2026;TED ${index};;1,00;`);
  expect((await read(ITAU, [HEADER, ...rows].join('\n'))).outcome.statements).toMatchObject([{ new: 2_001 }]);
});

test('the balance is that of the end of its day, in a file of either order; else it is left out', async () => {
  const ascending = [`02/10/2026;A;;1,00;5,00`, `02/10/2026;B;;2,00;7,00`];
  const balanceOf = async (rows: string[]) =>
    (await read(ITAU, [HEADER, ...rows].join('\n'))).outcome.statements[0]?.balance ?? null;
  expect(await balanceOf(ascending)).toBe('7.00');
  expect(await balanceOf([`02/10/2026;B;;2,00;7,10`, `02/10/2026;A;;1,00;5,10`])).toBe('7.10');
  expect(await balanceOf([`02/10/2026;A;;1,00;`, `02/10/2026;B;;2,00;7,20`, `03/10/2026;C;;1,00;`])).toBe('7.20');
  // of two rows of a day with one balance the last one may be either
  const unclear = [`02/10/2026;E;;1,00;5,30`, `02/10/2026;F;;2,30;`].join('\n');
  const isLeftOut = async (rows: string): Promise<boolean | undefined> =>
    (await read(ITAU, `${HEADER}\n${rows}`)).outcome.statements[0]?.balance_left_out;
  expect(await isLeftOut(unclear)).toBe(true);
  expect(await isLeftOut('02/10/2026;TED C;;1,00;\n02/10/2026;SALDO DO DIA;;;5,30')).toBe(true);
  expect(await isLeftOut('01/10/2026;SALDO ANTERIOR;;;5,30\n02/10/2026;TED D;;1,00;')).toBe(false);
  expect(await balanceOf([`02/10/2026;A;;1,00;5,30`, `02/10/2026;B;;2,30;`])).toBeNull();
});

test('the account of the file is asked where its titles are known, and the next file adds only what is new', async () => {
  const csv = { ...ITAU, header: [...ITAU.header.slice(0, 4), 'Saldo do banco'] };
  const head = 'Data;Histórico;Docto;Valor (R$);Saldo do banco';
  const { account } = await read(csv, `${head}\n02/10/2026;A;;1,00;`);
  const next = `${head}\n02/10/2026;A;;1,00;\n03/10/2026;B;;2,00;\n`;
  await expect(importBank(env.context, next)).rejects.toMatchObject({
    faults: [{ of: 'statement', kind: 'csv_account' }],
  });
  const outcome = await importBank(env.context, next, { account });
  expect(outcome.statements).toMatchObject([{ account, new: 1, known: 1 }]);
  // nobody mapped the columns of the other
  await setBankAccount(env.context, { account: '341/999999', name: 'Outra', isNew: true, actor: 'test' });
  await expect(importBank(env.context, `${next}\n`, { account: '341/999999' })).rejects.toMatchObject({
    faults: [{ kind: 'header' }],
  });
  await expect(importBank(env.context, 'a;b\n1;2\n')).rejects.toMatchObject({ faults: [{ kind: 'header' }] });
});

const WRONG: [Partial<BankCsv>][] = [
  [{ parts: ['day', 'text', 'number', 'amount'] }],
  [{ parts: ['day', 'text', 'number', 'text', 'balance'] }],
  [{ parts: ['day', 'text', 'in', 'amount', 'balance'] }],
  [{ parts: ['day', 'day', 'number', 'amount', 'balance'] }],
  [{ parts: ['day', 'text', 'in', 'out', 'balance'], signs: 'reversed' }],
  [{ parts: ['day', 'text', 'side', 'amount', 'balance'], signs: 'reversed' }],
  [{ parts: ['day', 'in', 'side', 'out', 'balance'] }],
];
test.each(WRONG)('columns that make no lines are refused: %j', async (more) => {
  const given = { account: '341/1', csv: { ...ITAU, ...more }, isNew: true, actor: 'test' };
  await expect(setBankAccount(env.context, given)).rejects.toMatchObject({ reason: 'csv_parts' });
});

import { expect, test } from 'vitest';
import { suggestAccount, suggestColumns } from '../../../src/http/console/imports/suggest-columns.ts';

test('the columns of a bank with an amount in each of two are suggested by their titles', () => {
  const titles = ['Data', 'Descrição', 'Documento', 'Crédito (R$)', 'Débito (R$)', 'Saldo (R$)'];
  const rows = [
    ['05/10/2026', 'PIX RECEBIDO', '1', '1.234,56', '', '1.234,56'],
    ['06/10/2026', 'TARIFA', '2', '', '-5,00', '1.229,56'],
  ];
  expect(Object.fromEntries(suggestColumns(titles, rows))).toEqual({
    ...{ part_0: 'day', part_1: 'text', part_2: 'number', part_3: 'in', part_4: 'out', part_5: 'balance' },
    ...{ days: 'dd/mm/yyyy', decimals: 'comma', signs: 'as_written' },
  });
});

test('what titles and rows do not say is left to the person', () => {
  const suggested = suggestColumns(
    ['Data', 'Valor', 'Débito/Crédito', 'Agência'],
    [['10 de outubro', '12.34', 'D', '1']],
  );
  expect(Object.fromEntries(suggested)).toEqual({
    part_0: 'day',
    part_1: 'amount',
    part_2: 'side',
    signs: 'as_written',
  });
});

test('a column of C and D is that of the sign under any title, and one of dashes is none', () => {
  const partsOf = (titles: string[], ...rows: string[][]) =>
    titles.map((_, index) => suggestColumns(titles, rows).get(`part_${index}`));
  const titles = ['Data', 'Lançamento', 'Valor', 'Natureza'];
  const side = ['day', 'text', 'amount', 'side'];
  expect(partsOf(titles, ['1', 'TED', '1,00', 'C'], ['1', 'SALDO', '9,00', ''], ['1', 'DOC', '2,00', 'D'])).toEqual(
    side,
  );
  expect(partsOf([...titles.slice(0, 3), 'Lançamento em'], ['1', 'TED', '1,00', 'Crédito'])).toEqual(side);
  expect(partsOf(titles, ['1', 'TED', '1,00', '-'], ['1', 'DOC', '2,00', '-'])).toEqual([
    ...side.slice(0, 3),
    undefined,
  ]);
  expect(partsOf(titles, ['1', 'TED', '1,00', '+'], ['1', 'DOC', '2,00', '-'])).toEqual(side);
  expect(partsOf(titles, ['1', 'TED', '1,00', 'C'], ['1', 'DOC', '2,00', 'X'])).toEqual([
    ...side.slice(0, 3),
    undefined,
  ]);
  // amounts in two columns say it already
  const two = partsOf(['Data', 'Entrada', 'Saída', 'Natureza'], ['1', '1,00', '', 'C'], ['1', '', '2,00', 'D']);
  expect(two).toEqual(['day', 'in', 'out', undefined]);
});

test('the account that the lines above the header name is suggested: a known one, else without its bank', () => {
  const sicredi = [['Extrato', ''], ['Cooperativa:', '0101'], ['Conta Corrente: 12345-6'], ['Período', '01/10/2026']];
  expect(suggestAccount(sicredi, ['341/1/99999-9', '748/0101/12345-6'])).toEqual({ account: '748/0101/12345-6' });
  expect(suggestAccount(sicredi, ['748/01010000000123456'])).toEqual({ account: '748/01010000000123456' });
  // the bank is not in the file: the person writes it
  expect(suggestAccount(sicredi, [])).toEqual({ other_account: '/0101/12345-6' });
  expect(suggestAccount([['Agência;', '1234', 'Conta', '56789-0']], [])).toEqual({ other_account: '/1234/56789-0' });
  // two accounts end so, two numbers, too short a one, and none
  expect(suggestAccount(sicredi, ['748/1/12345-6', '001/12345-6'])).toEqual({});
  expect(
    suggestAccount(
      [
        ['Conta', '12345-6'],
        ['Conta', '65432-1'],
      ],
      [],
    ),
  ).toEqual({});
  expect(suggestAccount([['Conta', '12-3']], ['748/12-3'])).toEqual({});
  expect(suggestAccount([['Conta', 'Maria'], ['1234567']], [])).toEqual({});
});

import { expect, test } from 'vitest';
import { suggestColumns } from '../../../src/http/console/imports/suggest-columns.ts';

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

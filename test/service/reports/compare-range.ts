import { expect } from 'vitest';
import type { Day } from '../../../src/domain/calendar.ts';
import { centsOf, lineOf, type ReadCell, type ReadSheet, rowsOf, sheetOf, sumCents } from './read-workbook.ts';

/** The columns of Dia a dia, each with the lines of a day's Resumo that it adds up. */
const COLUMNS: [string, string[]][] = [
  ['Saldo inicial', ['Saldo inicial']],
  ['Recebimentos', ['+ Recebimentos']],
  ['Tarifas', ['− Tarifas sobre recebimentos', '− Tarifas sobre pagamentos']],
  ['Pagamentos', ['− Pagamentos']],
  ['Devoluções feitas', ['− Devoluções feitas']],
  ['Devoluções recebidas', ['+ Devoluções recebidas']],
  ['Ajustes', ['± Ajustes']],
  ['Saldo final', ['Saldo final']],
  ['Retido', ['do qual retido']],
];
const SHEETS = ['Extrato', 'Recebimentos', 'Pagamentos', 'Devoluções'];
const SUMS = ['Valor', 'Tarifa', 'Líquido', 'Total debitado', 'Efeito no saldo'];

/** The total column of a day's Resumo. */
function totalOf(sheets: ReadSheet[], label: string): bigint {
  return centsOf(lineOf(sheetOf(sheets, 'Resumo'), label)?.filter(Boolean).at(-1));
}

/** The rows of Dia a dia by day, each by its column's name; `Total` is the last. */
export function readDays(range: ReadSheet[]): Map<string, Record<string, ReadCell>> {
  const { rows } = sheetOf(range, 'Resumo do período');
  const at = rows.findIndex((row) => row[0]?.value === 'Dia');
  const heads = rows[at]?.map((cell) => String(cell?.value)) ?? [];
  const end = rows.findIndex((row, index) => index > at && row[0]?.value === 'Total');
  return new Map(
    rows.slice(at + 1, end + 1).map((row) => {
      const name = String(row[0]?.value).slice(0, 10);
      return [name, Object.fromEntries(heads.map((head, index) => [head, row[index] ?? null]))];
    }),
  );
}

/** Compares a range's workbook with those of its days: each figure of a day, and the sum of each sheet, to the cent. */
export function compareRange(range: ReadSheet[], days: Map<Day, ReadSheet[]>): void {
  const rows = readDays(range);
  expect([...rows.keys()]).toEqual([...days.keys(), 'Total']);
  for (const [day, sheets] of days) {
    for (const [column, lines] of COLUMNS) {
      const expected = lines.reduce((sum, label) => sum + totalOf(sheets, label), 0n);
      expect([day, column, centsOf(rows.get(day)?.[column] ?? null)]).toEqual([day, column, expected]);
    }
    expect([day, centsOf(rows.get(day)?.['Diferença para o razão'])]).toEqual([day, 0n]);
  }
  for (const title of SHEETS) {
    // a day's opening balance holds the openings that were stated for it; a range lists those after its first day
    const own = rowsOf(sheetOf(range, title)).filter((row) => row.Movimento?.value !== 'Saldo inicial');
    const ofDays = [...days.values()].flatMap((sheets) => rowsOf(sheetOf(sheets, title)));
    const read = (rows: Record<string, ReadCell>[]) => ({
      sums: SUMS.map((name) => [name, sumCents(rows.map((row) => row[name]))]),
      ids: rows.map((row) => row['Id da transação']?.value),
    });
    expect([title, read(own)]).toEqual([title, read(ofDays)]);
  }
  const differences = sheetOf(range, 'Resumo do período').rows.filter((row) =>
    String(row[0]?.value).includes('deve ser 0,00'),
  );
  expect(differences.length).toBeGreaterThan(3);
  for (const row of differences) {
    const numbers = row.filter((cell) => cell?.kind === 'number').map((cell) => cell?.value);
    expect(numbers.length).toBeGreaterThan(0);
    expect([row[0]?.value, numbers]).toEqual([row[0]?.value, numbers.map(() => 0)]);
  }
}

import { expect, test } from 'vitest';
import { createCalendar } from '../../../src/domain/calendar.ts';
import { renderEvidence } from '../../../src/http/console/mismatches/render-evidence.ts';

const calendar = createCalendar('America/Sao_Paulo');
const [ONE, TWO] = ['6f9619ff-8b86-4d01-b42d-00cf4fc964ff', 'a3bb189e-8bf9-4888-9912-ace4e6543002'];

/** The cells of each row, as text. */
function rowsOf(expected: unknown, actual: unknown): string[][] {
  const rows = renderEvidence(calendar, { expected, actual }).text.split('<tr').slice(2);
  return rows.map((row) =>
    [...row.matchAll(/<td[^>]*><div>(.*?)<\/div><\/td>/gs)].map(([, cell]) => (cell ?? '').replaceAll(/<[^>]*>/g, '')),
  );
}

test.each([
  [
    'amounts in R$ with their difference',
    { amount: '1819.00', operation: 'cashin' },
    { amount: '819.50', operation: 'cashin' },
    [
      ['Valor', 'R$ 1.819,00', 'R$ 819,50', '-R$ 999,50'],
      ['Operação', 'Entrada', 'Entrada', 'nenhuma'],
    ],
  ],
  [
    'an unknown commission',
    { commission: null },
    { commission: '0.99' },
    [['Tarifa', 'não informado', 'R$ 0,99', '+R$ 0,99']],
  ],
  [
    'a stated balance beside that of the ledger',
    { platform: 'loja', balance: '100.00', at: '2026-11-21T18:00:00-03:00' },
    { ledger: '143.21', difference: '-43.21' },
    [
      ['Plataforma', 'loja', '–', '–'],
      ['Saldo', 'R$ 100,00', 'R$ 143,21', '-R$ 43,21'],
      ['Quando', '21/11/2026 18:00:00', '–', '–'],
    ],
  ],
  [
    'times on the provider’s clock, and how far apart they are',
    { status: 'paid', at: '2026-11-21T08:00:00-03:00' },
    { e2e_minute: '2026-11-20T20:00:00.000Z' },
    [
      ['Situação', 'Pago', '–', '–'],
      ['Quando', '21/11/2026 08:00:00', '20/11/2026 17:00:00', '15 h antes'],
    ],
  ],
  [
    'a history, oldest first',
    { status: 'refund' },
    { status: 'paid', history: ['pending', 'paid'] },
    [
      ['Situação', 'Devolvido', 'Pago', 'outra'],
      ['História no provedor', '–', 'Pendente → Pago', '–'],
    ],
  ],
  [
    'events that are gone',
    { status: 'paid' },
    { status: 'paid', lacks: [{ status: 'paid', at: '2026-11-21T08:00:00-03:00', sequence: 2 }], shows_again: [] },
    [
      ['Situação', 'Pago', 'Pago', 'nenhuma'],
      ['Eventos que sumiram', '–', 'Pago, 21/11/2026 08:00:00', '–'],
      ['Eventos que voltaram', '–', 'nenhum', '–'],
    ],
  ],
  [
    'both transactions of a reference',
    { transactions: 1 },
    { ids: [ONE, TWO] },
    [['Transações com esta referência', 'uma só', `${ONE.slice(0, 8)}…${TWO.slice(0, 8)}…`, '1 a mais']],
  ],
])('evidence shows %s', (_what, expected, actual, rows) => {
  expect(rowsOf(expected, actual)).toEqual(rows);
});

test('both transactions of a repeated reference are links', () => {
  const { text } = renderEvidence(calendar, { expected: { transactions: 1 }, actual: { ids: [ONE, TWO] } });
  for (const id of [ONE, TWO]) expect(text).toContain(`href="/transactions/${id}"`);
});

test.each([
  ['webhook_contradiction', /O webhook dizia.*O provedor mostra/s],
  ['balance_differs', /Informado.*No razão/s],
  ['amount_differs', /No razão.*O provedor mostra/s],
  ['commission_not_agreed', /Pelo contrato.*Cobrado/s],
  ['stuck', /Esperado<.*Encontrado</s],
  ['constructor', /Esperado<.*Encontrado</s],
])('the sides of %s are named', (kind, titles) => {
  expect(renderEvidence(calendar, { kind, expected: { status: 'paid' }, actual: {} }).text).toMatch(titles);
});

import { describe, expect, it } from 'vitest';
import type { Language } from '../../../src/domain/language/language.ts';
import { classifySearch, findDoubts, namesNobody, splitSearch } from '../../../src/ledger/read/classify-search.ts';

/** `reference extra amount:123400`: the readings of a text, or its fault. */
function read(text: string, language?: Language): string {
  const { readings, fault } = classifySearch(text, language);
  const words = readings.map((one) => {
    if (one.kind === 'amount') return `amount:${one.operation ? `${one.operation}:` : ''}${one.cents}`;
    return one.kind === 'day' ? `day:${one.day}` : one.kind;
  });
  return [...words, ...(fault ? [`fault:${fault}`] : [])].join(' ');
}

const UUID = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff';

describe('the search box', () => {
  it.each([
    ['', ''],
    ['   ', ''],
    ['22/11/2026', 'day:2026-11-22'],
    [' 2026-11-22 ', 'day:2026-11-22'],
    ['2/1/2026', 'day:2026-01-02'],
    ['22 nov 2026', 'day:2026-11-22'],
    ['22 Nov 2026', 'day:2026-11-22'],
    ['2 set. 2026', 'day:2026-09-02'],
    ['2 Sep 2026', 'day:2026-09-02'],
    ['1 de março de 2026', 'day:2026-03-01'],
    ['31 nov 2026', 'fault:no_such_day'],
    ['22 abc 2026', 'reference extra words'],
    ['31/02/2026', 'fault:no_such_day'],
    ['2026-13-01', 'fault:no_such_day'],
    ['R$ 1.234,56', 'amount:123456'],
    ['R$\u00a01.234,56', 'amount:123456'],
    ['r$1234', 'amount:123400'],
    ['1234,56', 'amount:123456'],
    ['1.234,5', 'amount:123450'],
    ['0,07', 'amount:7'],
    ['007,50', 'amount:750'],
    ['-10,00', 'amount:cashout:1000'],
    ['\u221210,00', 'amount:cashout:1000'],
    ['-R$ 10,00', 'amount:cashout:1000'],
    ['R$ -10', 'amount:cashout:1000'],
    ['R$ \u221210', 'amount:cashout:1000'],
    ['R$ 12,345', 'fault:no_amount'],
    ['R$ dez', 'fault:no_amount'],
    ['R$ 99999999999999999', 'fault:amount_too_large'],
    // without a currency, a comma or a sign it is also anything else
    ['1.234', 'reference extra words amount:123400'],
    ['10.50', 'reference extra amount:1050'],
    ['1234', 'id reference extra words amount:123400'],
    ['12', 'reference extra amount:1200'],
    ['1,234', 'reference extra words'],
    [UUID, 'id reference extra'],
    [UUID.toUpperCase(), 'id reference extra'],
    ['6f9619ff', 'id reference extra words'],
    ['6f9619ff-8b86', 'id reference extra words'],
    ['6f9', 'reference extra words'],
    ['E12345678202611201234abcdef12345', 'e2e_id reference extra'],
    ['D12345678202611201234abcdef12345', 'e2e_id reference extra'],
    ['123.456.789-09', 'reference extra document words'],
    ['12345678909', 'reference extra document words'],
    ['123 456 789 09', 'reference extra document words'],
    ['11.222.333/0001-81', 'reference extra document words'],
    ['12.ABC.345/01DE-35', 'reference extra document words'],
    ['12ABC34501DE35', 'reference extra document words'],
    ['ABCDEFGHIJKL12', 'reference extra words'],
    ['+5511987654321', 'reference extra words'],
    ['5511987654321', 'reference extra words'],
    ['6f9619ff8b', 'reference extra words'],
    ['pedido-77', 'reference extra words'],
    ['Maria', 'reference extra words'],
    ['João Conceição', 'reference extra words'],
    ["d'Ávila & Filhos", 'reference extra words'],
    ['Loja 24h do Centro', 'reference extra words'],
    ['pedido 77', 'reference extra words'],
    ['{"loja":2}', 'reference extra words'],
    ['maria@loja.example', 'reference extra words'],
    ['x', 'reference extra'],
    ['de la', 'reference extra'],
    ['uma duas tres quatro cinco seis sete oito nove', 'reference extra'],
    ['cafe', 'id reference extra words'],
    ['a'.repeat(513), 'fault:too_long'],
  ])('reads %j as: %s', (text, readings) => {
    expect(read(text)).toBe(readings);
  });

  it.each([
    ['R$ 1,234.56', 'amount:123456'],
    ['1,234.56', 'amount:123456'],
    ['10.50', 'amount:1050'],
    ['-10.00', 'amount:cashout:1000'],
    ['1234,56', 'reference extra words amount:123456'],
    ['1,234', 'reference extra words amount:123400'],
    ['1.234,56', 'reference extra words'],
    ['R$ 1.234,56', 'fault:no_amount'],
    ['22/11/2026', 'day:2026-11-22'],
    ['22 Nov 2026', 'day:2026-11-22'],
    ['22 nov 2026', 'day:2026-11-22'],
    ['21 November 2026', 'day:2026-11-21'],
  ])('reads %j in English as: %s', (text, readings) => {
    expect(read(text, 'en')).toBe(readings);
  });

  it('keeps what was typed, but for outer spaces, and an id in lower case', () => {
    expect(classifySearch(`  ${UUID.toUpperCase()} `).readings).toEqual([
      { kind: 'id', text: UUID },
      { kind: 'reference', text: UUID.toUpperCase() },
      { kind: 'extra', text: UUID.toUpperCase() },
    ]);
    expect(classifySearch(' a  b ').readings.slice(0, 2)).toEqual([
      { kind: 'reference', text: 'a  b' },
      { kind: 'extra', text: 'a  b' },
    ]);
  });

  it.each([
    ['22/11/2026', true],
    ['22 nov 2026', true],
    ['R$ 1.234,56', true],
    ['-10,00', true],
    ['1,234.56', true],
    [UUID, true],
    ['6f9619ff', true],
    ['6f9619ff-8b', true],
    ['E12345678202611201234abcdef12345', true],
    // the last eleven characters may be a document
    ['E1234567820261120123412345678909', false],
    ['12345678909', false],
    ['123.456.789,09', false],
    ['123.456.789-09', false],
    ['22453832-301', false],
    ['224538ab', false],
    ['Maria', false],
    ['decade', false],
    ['pedido-77', false],
    ['1234', false],
    ['', false],
    ['31/02/2026', false],
  ])('says whether %j can stand in an address: %s', (text, expected) => {
    expect(namesNobody(text)).toBe(expected);
  });
});

it.each([
  ['26/11', '2026-11-27', '2026-11-26'],
  ['27/11', '2026-11-27', '2026-11-27'],
  ['28/11', '2026-11-27', '2025-11-28'],
  ['1/2', '2026-11-27', '2026-02-01'],
  ['29/02', '2026-11-27', '2024-02-29'],
  ['29/02', '2104-02-28', '2096-02-29'],
  ['31/02', '2026-11-27', undefined],
])('%s read on %s is %s', (text, today, day) => {
  expect(splitSearch(text, today)?.days?.[0]).toBe(day);
});

it.each([
  ['190,00 a 200,00', '190,00|200,00'],
  ['de R$ 190 até R$ 200', 'R$190|R$200'],
  ['entre 190 e 200', '190|200'],
  ['190.00 to 1,200.00', '190.00|1,200.00'],
  ['190,00 – 200,00', '190,00|200,00'],
  // a reference may be numbers with a hyphen
  ['190 - 200', undefined],
  ['190,00', undefined],
  ['190,00 a 200,00 a 210,00', undefined],
  ['', undefined],
])('%s as a range of amounts is %s', (text, range) => {
  expect(splitSearch(text)?.amounts?.join('|')).toBe(range);
});

it.each([
  ['Conceição R$ 442,26', { words: 'Conceição', amounts: ['442,26', '442,26'] }],
  ['442,26 Conceição', { words: 'Conceição', amounts: ['442,26', '442,26'] }],
  ['Conceição r$ 442', { words: 'Conceição', amounts: ['442', '442'] }],
  ['Conceição 1,234.56', { words: 'Conceição', amounts: ['1,234.56', '1,234.56'] }],
  ['Conceição -R$ 442,26', { words: 'Conceição', amounts: ['442,26', '442,26'], operation: 'cashout' }],
  ['Conceição \u2212442,26', { words: 'Conceição', amounts: ['442,26', '442,26'], operation: 'cashout' }],
  ['Conceição 25/11/2026', { words: 'Conceição', days: ['2026-11-25', '2026-11-25'] }],
  ['Conceição 25/11', { words: 'Conceição', days: ['2026-11-25', '2026-11-25'] }],
  ['Ana Conceição 25 de novembro de 2026', { words: 'Ana Conceição', days: ['2026-11-25', '2026-11-25'] }],
  ['Conceição de 24/11/2026 a 25/11/2026', { words: 'Conceição', days: ['2026-11-24', '2026-11-25'] }],
  ['Conceição de 190,00 a 200,00', { words: 'Conceição', amounts: ['190,00', '200,00'] }],
  [
    'Conceição 25/11/2026 R$ 442,26',
    { words: 'Conceição', amounts: ['442,26', '442,26'], days: ['2026-11-25', '2026-11-25'] },
  ],
  ['442,26 2026-11-25', { words: '', amounts: ['442,26', '442,26'], days: ['2026-11-25', '2026-11-25'] }],
  // nothing is guessed
  ['R$ 442,26', undefined],
  ['Conceição 442', undefined],
  ['Conceição 1.234', undefined],
  ['Loja 190 a 200', undefined],
  ['Conceição 442,26 114,90', undefined],
  ['Conceição 31/02/2026', undefined],
  ['Conceição 123.456.789-09', undefined],
  [`Conceição ${'a'.repeat(513)} 25/11/2026`, undefined],
])('splits %j', (text, split) => {
  expect(splitSearch(text, '2026-11-27')).toEqual(split);
});

it.each([
  ['Conceição 442,26 114,90', true, []],
  ['Conceição 24/11/2026 R$ 1,00 25/11/2026', true, []],
  ['Conceição 31/02/2026', false, ['31/02/2026']],
  ['2026-13-01 1,00 Conceição 2,00', true, ['2026-13-01']],
  ['Conceição 442,26 25/11/2026', false, []],
  ['Conceição a31/02/2026', false, []],
  ['Conceição 442', false, []],
  ['', false, []],
])('says of %j what was read as words all the same', (text, areSeveral, wrongDays) => {
  expect(findDoubts(text, '2026-11-27')).toEqual({ areSeveral, wrongDays });
});

import { expect, test } from 'vitest';
import { describeEvidence, describeSide } from '../../../src/texts/reports/describe-evidence.ts';
import { textsOf } from '../../../src/texts/reports/texts.ts';

const pt = textsOf('pt-BR');

test.each([
  [{ status: 'paid' }, 'situação: pago'],
  [{ amount: '1234567.89', operation: 'cashin' }, 'valor: 1.234.567,89; operação: entrada'],
  [{ commission: null }, 'tarifa: nada'],
  [{ listed: false, shown: true }, 'na lista do provedor: não; na consulta pelo id: sim'],
  [{ balance: '-10.00', at: '2026-03-11T08:00:00-03:00' }, 'saldo: -10,00; quando: 11/03/2026 08:00:00'],
  [{ e2e_minute: '2026-03-11T11:00:00.000Z' }, 'hora no id E2E: 11/03/2026 11:00:00 UTC'],
  [
    {
      history: [
        { status: 'paid', at: '2026-03-11 08:00:00' },
        { status: 'odd', at: '2026-03-12 08:00:00' },
      ],
    },
    'história no provedor: pago 11/03/2026 08:00:00, odd 12/03/2026 08:00:00',
  ],
  [{ history: ['paid', 'refund'] }, 'história no provedor: pago, devolvido'],
  [{ fields: { amount: 'x' } }, 'campos ilegíveis: valor: x'],
  [{ reference: '10.00', extra: 'sha256:***' }, 'referência: 10.00; extra: sha256:***'],
  [{ lacks: [], new_field: 'value' }, 'eventos que sumiram: nada; new_field: value'],
  [{ status: '__proto__', days: ['2026-03-11'] }, 'situação: __proto__; dias: 11/03/2026'],
  [{ reason: 'no_key' }, 'motivo: não nomeia transação alguma'],
  [{ reason: 'id: is missing' }, 'motivo: id: is missing'],
  [{ reference: 'empty', shown_by: 'show' }, 'referência: empty; visto em uma: consulta pelo id'],
  ['***', '***'],
  [null, null],
])('the evidence %j reads as %j', (evidence, words) => {
  expect(describeEvidence(evidence, pt)).toBe(words);
});

test('in English it has the English words', () => {
  expect(describeEvidence({ status: 'paid', amount: '10.00' }, textsOf('en'))).toBe('status: paid; amount: 10.00');
});

test('a platform with a name shows both, another one its id', () => {
  const names = new Map([['6f96', 'Loja do Centro']]);
  expect(describeEvidence({ platform: '6f96' }, textsOf('pt-BR'), names)).toBe('plataforma: Loja do Centro (6f96)');
  expect(describeEvidence({ platform: 'other' }, textsOf('pt-BR'), names)).toBe('plataforma: other');
});

test.each([
  ['webhook_contradiction', { status: 'refund' }, 'expected', 'o webhook dizia: situação: devolvido'],
  [
    'balance_differs',
    { ledger: '42439.77', difference: '-4310.00' },
    'actual',
    'no razão: saldo: 42.439,77; diferença: -4.310,00',
  ],
  [
    'commission_differs',
    { commission: '0.99', contract: 'c' },
    'expected',
    'pelo contrato: tarifa: 0,99; contrato de tarifas: c',
  ],
  ['stuck', { status: 'pending' }, 'actual', 'situação: pendente'],
  ['webhook_contradiction', null, 'actual', null],
] as const)('a sheet says whose a side of %s is', (kind, one, side, words) => {
  expect(describeSide({ kind, expected: one, actual: one }, side, pt)).toBe(words);
});

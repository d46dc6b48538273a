import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createCalendar } from '../../../src/domain/calendar.ts';
import { hashRangeOf, webhookIdOf } from '../../../src/domain/ids.ts';
import { maskDocument } from '../../../src/domain/person/mask-person.ts';
import {
  type LedgerTransaction,
  maskTransaction,
  presentTransaction,
} from '../../../src/domain/present-transaction.ts';
import { isFinal, isIllegalTransition, isKnownStatus, STATUSES } from '../../../src/domain/statuses.ts';
import { propertyOptions } from '../../support/property.ts';

describe('statuses', () => {
  test('eight are known, and five of them are final', () => {
    expect(STATUSES).toHaveLength(8);
    expect(STATUSES.filter(isFinal)).toEqual(['paid', 'denied', 'canceled', 'expired', 'refund']);
    for (const status of ['partially_paid', 'PAID', ' paid', '', '__proto__'])
      expect(isKnownStatus(status)).toBe(false);
  });

  test('a history leaves a final status only from paid to refund', () => {
    const legal = STATUSES.flatMap((from) => STATUSES.map((to) => [from, to] as const)).filter(
      ([from, to]) => isFinal(from) && !isIllegalTransition(from, to) && from !== to,
    );
    expect(legal).toEqual([['paid', 'refund']]);
    expect(isIllegalTransition('paid', 'partially_paid')).toBe(true);
    expect(isIllegalTransition('partially_paid', 'paid')).toBe(false);
  });
});

describe('webhook ids', () => {
  const hash = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));

  test('an id finds its own hash and no hash that starts otherwise', () => {
    fc.assert(
      fc.property(hash, hash, (one, other) => {
        const range = hashRangeOf(webhookIdOf(one));
        expect(range && range.from.compare(one) <= 0 && range.to.compare(one) >= 0).toBe(true);
        const inside = range && range.from.compare(other) <= 0 && range.to.compare(other) >= 0;
        expect(inside).toBe(one.subarray(0, 16).equals(other.subarray(0, 16)));
      }),
      propertyOptions(30, 300),
    );
  });

  test("it is wh_ and the first 128 bits of the body's SHA-256", () => {
    const body = createHash('sha256').update('{}').digest();
    expect(webhookIdOf(body)).toBe('wh_44136fa355b3678a1146ad16f7e8649e');
  });

  test('what has another form is no id', () => {
    for (const id of [
      '',
      'wh_',
      `wh_${'0'.repeat(31)}`,
      `wh_${'0'.repeat(33)}`,
      `wh_${'G'.repeat(32)}`,
      'x'.repeat(35),
    ]) {
      expect(hashRangeOf(id)).toBeUndefined();
    }
  });
});

const HELD: LedgerTransaction = {
  id: 'a',
  operation: 'cashin',
  status: 'paid',
  statusWall: '2026-11-20 23:30:00',
  sequence: 2,
  amountCents: 10_000n,
  commissionCents: 150n,
  reference: 'r',
  extra: 'x',
  platform: 'p',
  e2eId: null,
  createdWall: '2026-11-20 23:00:00',
  name: 'Maria da Conceição',
  email: 'maria@example.com',
  phone: '+5511987654321',
  document: '12345678909',
  pixKey: 'maria@example.com',
  description: 'd',
  forgotten: false,
};

describe('a transaction as it is shown', () => {
  const calendar = createCalendar('America/Sao_Paulo');

  test('a cashin brings its amount less the commission, a cashout costs its amount and the commission', () => {
    expect(presentTransaction(HELD, calendar)).toMatchObject({ amount: '100.00', commission: '1.50', net: '98.50' });
    expect(presentTransaction({ ...HELD, operation: 'cashout' }, calendar)).toMatchObject({ net: '101.50' });
  });

  test('a commission that is not known is null, and takes nothing from the net', () => {
    const shown = presentTransaction({ ...HELD, commissionCents: null }, calendar);
    expect(shown).toMatchObject({ commission: null, net: '100.00' });
  });

  test('masked, it holds no whole name, document, phone, e-mail or key', () => {
    const masked = maskTransaction(presentTransaction(HELD, calendar), HELD);
    expect(masked).toMatchObject({
      name: 'M*** d*** C***',
      email: 'm***@example.com',
      phone: '**********4321',
      document: '***.456.789-**',
      pix_key: 'm***@example.com',
    });
  });

  describe.each(['extra', 'description'] as const)('masked, its %s goes where it repeats one of these', (field) => {
    const shown = presentTransaction(
      { ...HELD, name: 'João da Silva', phone: '+5511999998888', document: '12345678909', pixKey: '98765432100' },
      calendar,
    );
    const mask = (text: string) => maskTransaction({ ...shown, [field]: text }, HELD)[field];

    test.each([
      '{"nome":"Jo\\u00e3o da Silva"}',
      'nome=Jo%C3%A3o%20da%20Silva',
      'nome=Jo%C3%A3o+da+Silva&mesa=4',
      'cliente=joao+da+silva',
      'https://x/?volta=https%3A%2F%2Fy%2F%3Fnome%3DJo%25C3%25A3o%2520da%2520Silva',
      'JOÃO  DA SILVA, mesa 4',
      'tel (11) 99999-8888',
      'tel 011 99999 8888',
      'tel %2B55%2011%2099999-8888',
      'maria%40example.com',
      'MARIA@example.com',
      'cpf 123.456.789-09',
      'cpf 123 456 789 09',
      'cpf \\u0031\\u0032345678909',
      'cpf １２３４５６７８９０９',
      '00012345678909',
      'chave 987.654.321-00',
      'final 8909',
      'outro CPF: 52998224725',
      'outro CPF: 111.222.333-44',
      'MTIzLjQ1Ni43ODktMDk=',
    ])('%s', (text) => {
      expect(mask(text)).toBe('***');
    });

    test.each(['mesa 4', 'João da Costa', 'tel (11) 99999-8887', 'pedido 11122233344', 'nome=Jo%C3%A3o', '%', '\\u00'])(
      'and not where it does not: %s',
      (text) => {
        expect(mask(text)).toBe(text);
      },
    );

    test('a short name is searched from four letters on', () => {
      const of = (name: string, text: string) => maskTransaction({ ...shown, name, [field]: text }, HELD)[field];
      expect([of('Rosa', 'pedido da rosa'), of('Ana', 'semana')]).toEqual(['***', 'semana']);
    });
  });

  test('the mask of any document hides at least its ends, for all lengths and letters', () => {
    expect(maskDocument('12.ABC.345/01DE-35')).toBe('**.***.345/****-**');
    expect(maskDocument('123.456.789-09')).toBe('***.456.789-**');
    expect(maskDocument('123')).toBe('***');
    expect(maskDocument(null)).toBeNull();
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9A-Z]{5,30}$/), (document) => {
        expect(maskDocument(document)).not.toContain(document);
        expect((maskDocument(document) ?? '').replace(/[^0-9A-Z]/g, '').length).toBeLessThan(document.length);
      }),
      propertyOptions(30, 300),
    );
  });
});

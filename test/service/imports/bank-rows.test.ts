/** Rows of a bank that are no movements, or not with that amount or day: they are asked about or refused, never booked in silence. */
import { describe, expect, it } from 'vitest';
import type { Answers } from '../../../src/imports/import-kind.ts';
import { listBankLines } from '../../../src/ledger/bank/list-bank-lines.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { importBank } from '../../support/import-bank.ts';
import { makeOfx } from '../../support/make-ofx.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { readRow } from '../../support/read-rows.ts';

const environment = closeAfterAll(await openEnvironment());

let accounts = 0;
/** Imports a file of an account of its own. @returns its amounts and texts, or the faults. */
function openAccount() {
  const [bank, number] = [String(++accounts), `77${accounts}00${accounts}`];
  const account = `${bank}/${number}`;
  return {
    ...{ account, bank, number },
    take: async (file: string, answers: Answers = {}): Promise<string[] | string> => {
      try {
        await importBank(environment.context, file, { new_account: 'true', ...answers });
      } catch (error) {
        return String(error);
      }
      const lines = await listBankLines(environment.context.db, 100, undefined, { account });
      return lines.map(({ amount, name, memo }) => `${amount} ${name}${memo}`).reverse();
    },
  };
}
const csv = (account: string, rows: string[], columns = 'dia;valor;texto') =>
  `conta;${columns}\n${rows.map((row) => `${account};${row}\n`).join('')}`;
const ROWS = ['20/10/2026;100,00;PIX', '20/10/2026;-30,00;TED'];
const ASKED = 'balance_rows=leave_out|lines';

describe('a total that has all that a row must have', () => {
  it.each(['TOTAL', 'Total geral', 'SUBTOTAL:', 'TOTAIS DO PERÍODO', '*** Total do dia ***', 'Total de débitos'])(
    'is asked about: %s',
    async (text) => {
      const { account, take } = openAccount();
      const file = csv(account, [...ROWS, `20/10/2026;70,00;${text}`]);
      expect(await take(file)).toMatch(/row 4, texto: .*balance_rows/);
      expect(await take(file, { balance_rows: 'leave_out' })).toEqual(['100.00 PIX', '-30.00 TED']);
    },
  );

  it.each(['100,00', '-30,00', '30,00', '70,00', '130,00'])(
    'is asked about with other words where %s is a sum of the rows above it',
    async (amount) => {
      const { account, take } = openAccount();
      const file = csv(account, [...ROWS, `20/10/2026;${amount};TOTAL PLANILHA MARIA`]);
      expect(await take(file)).toContain(ASKED);
      expect(await take(file, { balance_rows: 'lines' })).toHaveLength(3);
    },
  );

  it('is asked about beside D/C, and in an OFX', async () => {
    const [one, other] = [openAccount(), openAccount()];
    const rows = ['20/10/2026;100,00;C;PIX', '20/10/2026;30,00;D;TED', '20/10/2026;70,00;C;TOTAL'];
    expect(await one.take(csv(one.account, rows, 'dia;valor;D/C;texto'))).toContain(ASKED);
    const lines = ['PIX', 'TOTAL DISPONIVEL DIA'].map((memo) => ({
      ...{ day: '2026-10-20', amount: '1.00', fitid: memo, memo },
    }));
    expect(await other.take(makeOfx({ ...other, lines }))).toContain(ASKED);
  });

  it('is a payment to somebody of that name with another amount', async () => {
    const { account, take } = openAccount();
    expect(await take(csv(account, [...ROWS, '20/10/2026;-71,00;TOTAL EXPRESS LTDA']))).toHaveLength(3);
  });
});

describe('a balance among the rows', () => {
  it('of a table with an identifier is asked about where a payment may have its text', async () => {
    const { account, take } = openAccount();
    const columns = 'dia;valor;texto;identificador';
    const file = csv(account, ['20/10/2026;1,00;PIX;a1', '20/10/2026;900,00;SALDO PEDIDO 77;a2'], columns);
    expect(await take(file)).toMatch(/row 3, texto: .*balance_rows/);
    expect(await take(file, { balance_rows: 'lines' })).toEqual(['1.00 PIX', '900.00 SALDO PEDIDO 77']);
    const plain = csv(account, ['20/10/2026;900,00;Saldo do dia;a3'], columns);
    expect(await take(plain)).toContain('shows a balance: leave the row out');
  });

  it.each(['SALDOS DO DIA', 'S A L D O S', 'Saldo final'])('of an OFX is known by %s', async (memo) => {
    const { take, ...given } = openAccount();
    const lines = ['PIX', memo].map((text) => ({
      ...{ day: '2026-10-20', amount: '1.00', fitid: text, memo: text },
    }));
    expect(await take(makeOfx({ ...given, lines }))).toEqual(['1.00 PIX']);
  });

  it.each(['BALANCE', 'Saldo'])('of an OFX is asked about where its type is %s', async (type) => {
    const { take, ...given } = openAccount();
    const lines = [{ day: '2026-10-20', amount: '1.00', fitid: 'a', memo: 'FECHAMENTO', type }];
    expect(await take(makeOfx({ ...given, lines }))).toContain(ASKED);
  });
});

describe('amounts of an OFX without decimals', () => {
  const lines = (amounts: string[], day = '2026-10-20') =>
    amounts.map((amount, at) => ({ day, amount, fitid: `${day}-${at}`, memo: `PIX ${day} ${at}` }));
  const balance = (amount: string, day = '2026-10-20') => ({ balance: { amount, day } });
  const CENTS = /line \d+: .*amounts=cents\|as_written \(--amounts\)/;

  it.each([
    ['a balance with decimals', balance('1450.10')],
    ['a balance without them', balance('145010')],
    ['no balance', {}],
  ])('are asked about in a first file, beside %s', async (_, more) => {
    const { take, ...given } = openAccount();
    const file = makeOfx({ ...given, lines: lines(['150000', '-4990']), ...more });
    expect(await take(file)).toMatch(CENTS);
    expect(await take(file, { amounts: 'cents' })).toEqual(['1500.00 PIX 2026-10-20 0', '-49.90 PIX 2026-10-20 1']);
    const { balance_cents: cents } = await readRow(environment.context.db, 'bank_statements', ['balance_cents'], {
      account: given.account,
    });
    expect(cents).toBe('balance' in more ? 145_010n : null);
  });

  it('are taken as written, or in cents, where an earlier balance proves that', async () => {
    for (const [amount, after] of [
      ['200', '1200.00'],
      ['20000', '1200.00'],
      ['20000', '120000'],
    ] as const) {
      const { take, ...given } = openAccount();
      await take(makeOfx({ ...given, lines: lines(['1.50']), ...balance('1000.00') }));
      const next = { lines: lines([amount], '2026-10-21'), ...balance(after, '2026-10-21') };
      expect(await take(makeOfx({ ...given, ...next }))).toEqual(['1.50 PIX 2026-10-20 0', '200.00 PIX 2026-10-21 0']);
    }
  });

  it('are in reais where a person says so, and no question beside one with decimals', async () => {
    const [one, other] = [openAccount(), openAccount()];
    const whole = makeOfx({ ...one, lines: lines(['1500']), ...balance('1450.10') });
    expect(await one.take(whole, { amounts: 'as_written' })).toEqual(['1500.00 PIX 2026-10-20 0']);
    expect(await other.take(makeOfx({ ...other, lines: lines(['1500', '0.5']) }))).toHaveLength(2);
  });
});

describe('an amount without a sign is asked about', () => {
  const line = (type: string, memo: string, amount = '10.00') => ({
    day: '2026-10-20',
    amount,
    fitid: memo,
    memo,
    type,
  });
  it.each([
    ['PIXENVIADO', 'JOAO'],
    ['PIX_ENVIADO', 'JOAO'],
    ['TEDENVIADA', 'JOAO'],
    ['COMPRA CARTAO', 'LOJA'],
    ['XFER', 'TED JOAO'],
    ['OTHER', 'PIX ENVIADO JOAO'],
    ['', 'Pagamento de boleto'],
    ['OTHER', 'TARIFA PACOTE'],
  ])('of the type %s with the text %s', async (type, memo) => {
    const { take, ...given } = openAccount();
    const file = makeOfx({ ...given, lines: [line(type, memo), line('CREDIT', 'PIX RECEBIDO')] });
    expect(await take(file)).toContain('signs=by_type|as_written');
    expect(await take(file, { signs: 'as_written' })).toHaveLength(2);
  });

  it('but not of a type that says money in', async () => {
    const { take, ...given } = openAccount();
    const lines = [line('CREDIT', 'TARIFA'), line('XFER', 'TED RECEBIDA')];
    expect(await take(makeOfx({ ...given, lines }))).toHaveLength(2);
  });

  it.each([
    ['XFER', 'TED JOAO'],
    ['OTHER', 'PIX ENVIADO DEVOLVIDO'],
    ['CREDIT', 'ESTORNO TARIFA'],
  ])('but not of %s %s in a file with signs', async (type, memo) => {
    const { take, ...given } = openAccount();
    const file = makeOfx({ ...given, lines: [line(type, memo), line('DEBIT', 'PIX ENVIADO', '-1.00')] });
    expect(await take(file)).toHaveLength(2);
  });
});

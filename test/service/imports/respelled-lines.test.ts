/** One line of a bank, written in two ways by two downloads: it is asked about, and never stored twice in silence. */
import { beforeAll, describe, expect, it } from 'vitest';
import { addDays } from '../../../src/domain/calendar.ts';
import type { Answers } from '../../../src/imports/import-kind.ts';
import { listBankLines } from '../../../src/ledger/bank/list-bank-lines.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { importBank } from '../../support/import-bank.ts';
import type { MadeLine, MadeStatement } from '../../support/make-ofx.ts';
import { openEnvironment } from '../../support/open-environment.ts';

const environment = closeAfterAll(await openEnvironment());
let day: string;
beforeAll(async () => {
  const { context } = environment;
  day = addDays(context.calendar.dayOf(context.clock.now()), -20);
});

let accounts = 0;
/** An account of its own for each test. */
function openAccount() {
  const bank = String(++accounts);
  const number = `77${accounts}00${accounts}`;
  const take = (file: MadeStatement | string, answers: Answers = {}) =>
    importBank(environment.context, typeof file === 'string' ? file : { bank, number, from: day, ...file }, {
      ...{ new_account: 'true', ...answers },
    });
  const count = async () =>
    (await listBankLines(environment.context.db, 100, undefined, { account: `${bank}/${number}` })).length;
  return { account: `${bank}/${number}`, take, count };
}
let fitids = 0;
const line = (more: Partial<MadeLine> = {}): MadeLine => ({ day, amount: '-10.00', fitid: `f${++fitids}`, ...more });
const KEPT = 'PIX RECEBIDO LOJA';
const ASKED = 'the file lacks a stored line of this amount';

describe('a line of the day and amount of a stored one that the file lacks is asked about', () => {
  it.each([
    ['a letter that became a question mark', { memo: 'PIX JOÃO SILVA' }, { memo: 'PIX JO?O SILVA' }],
    ['a broken letter', { memo: 'PIX JOÃO SILVA' }, { memo: 'PIX JO\ufffdO SILVA' }],
    ['letters decoded twice', { memo: 'PIX JOÃO SILVA' }, { memo: 'PIX JOÃ£O SILVA' }],
    ['a letter that became a blank', { memo: 'PIX JOÃO SILVA' }, { memo: 'PIX JO O SILVA' }],
    ['letters without accents', { memo: 'TRANSFERÊNCIA JOÃO' }, { memo: 'TRANSFERENCIA JOAO' }],
    ['name and memo swapped', { name: 'JOAO', memo: 'PIX' }, { name: 'PIX', memo: 'JOAO' }],
    ['words in another order', { memo: 'PIX RECEBIDO DE JOAO SILVA' }, { memo: 'JOAO SILVA PIX RECEBIDO DE' }],
    ['words added within', { memo: 'PIX JOAO' }, { memo: 'PIX RECEBIDO DE JOAO SILVA' }],
    ['another text altogether', { memo: 'LANCAMENTO 77' }, { memo: 'CRED PIX LOJA' }],
    ['no text any more', { memo: 'PIX JOAO' }, {}],
  ])('%s', async (_, before, after) => {
    const { take, count } = openAccount();
    const kept = line({ memo: KEPT });
    await take({ lines: [line(before), kept] });
    await expect(take({ lines: [line(after), kept] })).rejects.toThrow(ASKED);
    expect(await count()).toBe(2);
    const made = await take({ lines: [line(after), kept] }, { other_lines: 'true' });
    expect(made.statements).toMatchObject([{ new: 1, known: 1 }]);
  });

  it('also with another export of the same days: a CSV after an OFX, with identifiers of its own', async () => {
    const { account, take, count } = openAccount();
    await take({ lines: [line({ memo: 'PIX ENVIADO JOAO' }), line({ amount: '25.00', memo: 'PIX MARIA' })] });
    const csv = (columns: string) =>
      `conta;dia;valor;texto;${columns}\n${account};${day};-10,00;Pagamento Pix - Joao;7701\n${account};${day};25,00;Pix de Maria;7702\n`;
    await expect(take(csv('identificador'))).rejects.toThrow(ASKED);
    await expect(take(csv('número do documento'))).rejects.toThrow(ASKED);
    expect(await count()).toBe(2);
  });
});

describe('a line of the amount and text of a stored one of another day', () => {
  const memo = 'TED 123 FORNECEDOR';
  it.each([-3, -1, 1, 3])('that the file lacks is asked about: %d days apart', async (days) => {
    const { take, count } = openAccount();
    const [first, to] = [addDays(day, 5), addDays(day, 10)];
    await take({ lines: [line({ day: first, memo })] });
    const moved = line({ day: addDays(first, days), memo: memo.replace(' ', '  ') });
    await expect(take({ lines: [moved], to })).rejects.toThrow(ASKED);
    expect(await count()).toBe(1);
  });

  it('is another one where the file has both, or does not show that day, or the days are far apart', async () => {
    const { take } = openAccount();
    const [fee, next] = [line({ memo }), line({ day: addDays(day, 1), memo })];
    await take({ lines: [fee] });
    expect((await take({ lines: [next], from: next.day })).statements).toMatchObject([{ new: 1 }]);
    const [later, far] = [line({ day: addDays(day, 2), memo }), line({ day: addDays(day, 6), memo })];
    expect((await take({ lines: [fee, next, later] })).statements).toMatchObject([{ new: 1, known: 2 }]);
    expect((await take({ lines: [far] })).statements).toMatchObject([{ new: 1 }]);
  });

  it('is asked about in a table too', async () => {
    const { account, take, count } = openAccount();
    const csv = (at: string, text: string) =>
      `conta;dia;valor;texto\n${account};${day};1,00;PIX\n${account};${at};-10,00;${text}\n${account};${addDays(day, 9)};2,00;PIX\n`;
    await take(csv(addDays(day, 5), memo));
    await expect(take(csv(addDays(day, 6), memo))).rejects.toThrow(ASKED);
    expect(await count()).toBe(3);
  });
});

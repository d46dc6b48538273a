/** Downloads of one account that overlap, in any order and with FITIDs of any kind: what is stored is what the account did. */
import { beforeAll, expect, test } from 'vitest';
import { hashDocument } from '../../../src/database/keys/index-person.ts';
import { addDays } from '../../../src/domain/calendar.ts';
import { listBankLines } from '../../../src/ledger/bank/list-bank-lines.ts';
import { keepContents } from '../../../src/ledger/bank/statement/keep-contents.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { importBank } from '../../support/import-bank.ts';
import type { MadeLine } from '../../support/make-ofx.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { chooseSeed, drawFrom, numRuns } from '../../support/property.ts';

const environment = closeAfterAll(await openEnvironment());
let first: string;
beforeAll(async () => {
  const { context } = environment;
  first = addDays(context.calendar.dayOf(context.clock.now()), -30);
});

type Moved = { day: string; at: number; amount: string; memo: string; id: string };
const DAYS = 4;

/** An account's lines, each with the moment at which it happened. */
function makeTruth(random: (limit: number) => number): Moved[] {
  return Array.from({ length: 3 + random(12) }, (_, index) => {
    const at = random(DAYS * 10);
    const amount = `${random(2) === 0 ? '-' : ''}${1 + random(3)}.00`;
    return {
      day: addDays(first, Math.floor(at / 10)),
      at,
      amount,
      memo: ['PIX ANA', 'PIX BIA', 'TARIFA'][random(3)] ?? '',
      id: `t${index}`,
    };
  }).sort((a, b) => a.at - b.at);
}

/** Makes the lines that the bank gives of some days at some moment. */
function download(truth: Moved[], random: (limit: number) => number, nth: number, isLast: boolean): MadeLine[] {
  const [from, until] = isLast ? [0, DAYS * 10] : [random(DAYS), 1 + random(DAYS * 10)];
  const seen = truth.filter((one) => one.at < until && one.at >= from * 10);
  const kind = ['stable', 'new', 'position', 'day position', 'repeated'][random(5)];
  const numbers = new Map<string, number>();
  const lines = (random(2) === 0 ? seen : seen.toReversed()).map((one, index) => {
    const ofDay = (numbers.get(one.day) ?? 0) + 1;
    numbers.set(one.day, ofDay);
    const fitid = {
      stable: one.id,
      new: `d${nth}-${index}`,
      position: `${one.day}-${ofDay}`,
      'day position': `${ofDay}`,
      repeated: `r${random(2)}`,
    }[kind ?? ''];
    const memo = random(2) === 0 ? one.memo : one.memo.replace(' ', '    ');
    return { day: one.day, amount: one.amount, fitid: fitid ?? '', memo };
  });
  return lines;
}

const summary = (lines: { day: string; amount: string; memo: string }[]): string[] =>
  lines.map(({ day, amount, memo }) => `${day} ${amount} ${memo.replace(/\s+/g, ' ')}`).sort();

test('no line is doubled, lost or swapped', async () => {
  const random = drawFrom(chooseSeed(20_261_126));
  const { context } = environment;
  for (let account = 0; account < numRuns(12, 600); account++) {
    const truth = makeTruth(random);
    const files = Array.from({ length: 4 }, (_, nth) => download(truth, random, nth, nth === 0));
    let asked = 0;
    for (const lines of shuffle(files, random)) {
      if (lines.length === 0) continue;
      const file = { number: `77000${account}5`, bank: `${account}`, lines, from: first, to: addDays(first, DAYS) };
      const answers = { new_account: 'true' };
      try {
        await importBank(context, file, answers);
      } catch (error) {
        // a question is answered with the truth: what the file has are movements of their own
        expect(String(error)).toContain('other_lines=true');
        asked++;
        await importBank(context, file, { ...answers, other_lines: 'true' });
      }
      const stored = await listBankLines(context.db, 200, undefined, { account: `${account}/77000${account}5` });
      const left = summary(truth);
      for (const one of summary(stored)) {
        expect(left, `account ${account}: ${one} is no line, or is there twice`).toContain(one);
        left.splice(left.indexOf(one), 1);
      }
    }
    const stored = await listBankLines(context.db, 200, undefined, { account: `${account}/77000${account}5` });
    expect(summary(stored), `account ${account}, asked ${asked} times`).toEqual(summary(truth));
  }
});

test('a line of a forgotten person is known again by its content, also one that 0.1.0 stored', async () => {
  const { context } = environment;
  const memo = 'PIX 111.444.777-35 RITA';
  const lines = [
    { day: first, amount: '10.00', fitid: 'a1', memo },
    { day: first, amount: '20.00', fitid: 'a2', memo },
  ];
  const account = { number: '990001', bank: '1' };
  await importBank(context, { ...account, lines });
  const texts = context.db.updateTable('bank_line_texts').where('memo', '=', memo);
  // 0.1.0 writes no hash: it is made before the texts go
  await texts.set({ content_hash: null }).where('fitid', '=', 'a2').execute();
  const rows = await context.db.selectFrom('bank_line_texts').select('line_seq').where('memo', '=', memo).execute();
  await keepContents(
    context,
    rows.map(({ line_seq }) => line_seq),
  );
  await texts.set({ memo: '[removido]', fitid: '' }).execute();
  await context.db
    .insertInto('forgotten_people')
    .values({ document_hash: hashDocument(context.keys, '11144477735'), forgotten_at: context.clock.now() })
    .execute();
  const again = lines.map((line) => ({ ...line, fitid: `b${line.fitid}` }));
  const added = { day: addDays(first, 1), amount: '5.00', fitid: 'a3', memo };
  expect((await importBank(context, { ...account, lines: [...again, added] })).statements).toMatchObject([
    { new: 1, known: 2, renumbered: 2 },
  ]);
  // redacted when it was stored
  expect((await importBank(context, { ...account, lines: [{ ...added, fitid: 'c3' }] })).statements).toMatchObject([
    { new: 0, known: 1 },
  ]);
});

test('a line that was erased before its content was stored is known by its FITID, and asked about under another', async () => {
  const { context } = environment;
  const account = { number: '880001', bank: '2' };
  const line = { day: first, amount: '10.00', fitid: 'a1', memo: 'PIX ZOE' };
  await importBank(context, { ...account, lines: [line] }, { new_account: 'true' });
  await context.db
    .updateTable('bank_line_texts')
    .set({ memo: '[removido]', content_hash: null })
    .where('memo', '=', 'PIX ZOE')
    .execute();
  const other = { ...line, day: addDays(first, 1), fitid: 'a2' };
  expect((await importBank(context, { ...account, lines: [line, other] })).statements).toMatchObject([
    { new: 1, known: 1 },
  ]);
  await expect(importBank(context, { ...account, lines: [{ ...line, fitid: 'x' }] })).rejects.toThrow(
    'lacks a stored line',
  );
});

function shuffle<T>(list: T[], random: (limit: number) => number): T[] {
  return list
    .map((one) => ({ one, at: random(1_000) }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one);
}

test('1,500 lines of one day and amount are compared with as many, and not each with each', async () => {
  const { context } = environment;
  const make = (text: string): MadeLine[] =>
    Array.from({ length: 1_500 }, (_, index) => ({
      ...{ day: first, amount: '-10.00', fitid: `${text}${index}`, memo: `${text} ${index}` },
    }));
  const number = '99999-0';
  await importBank(context, { number, lines: make('PIX') }, { new_account: 'true' });
  const added = { day: first, amount: '-10.00', fitid: 'added', memo: 'TED' };
  expect((await importBank(context, { number, lines: [...make('PIX'), added] })).statements).toMatchObject([
    { new: 1 },
  ]);
  await expect(importBank(context, { number, lines: make('DOC') })).rejects.toThrow('lacks a stored line');
});

/**
 * A list in memory, newest rows first, which changes between two readings and between two pages of one. What a recent
 * reading claims is compared with the rows that the list really held.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HEAD_ROWS, type ListHead, learnHead, readRecent } from '../../../src/provider/list/read-recent.ts';
import type { ListClient } from '../../../src/provider/list/run-pass.ts';
import { createSeenRows } from '../../../src/provider/list/seen-rows.ts';
import { type ParsedRow, parseTransaction } from '../../../src/provider/parse-transaction.ts';
import { chooseSeed, numRuns, propertyOptions } from '../../support/property.ts';

const DAY = '2026-03-02';
const OPTIONS = { belongs: (wall: string): boolean => wall.startsWith(DAY) };
const BASE_ROWS = 900;

type Facts = { number: number; second: number; status: string; amount: string };

/** Reading a row costs more than serving it. */
const known = new Map<string, ParsedRow>();
function parse({ number, second, status, amount }: Facts): ParsedRow {
  const key = `${number} ${second} ${status} ${amount}`;
  const time = new Date(second * 1000).toISOString().slice(11, 19);
  const id = `0f0e0d0c-0000-4000-8000-${String(number).padStart(12, '0')}`;
  const facts = { id, operation: 'cashin', status, amount, date_created: `${DAY} ${time}` };
  const row = known.get(key) ?? parseTransaction(facts);
  known.set(key, row);
  return row;
}

const idOf = (row: ParsedRow): string => (row.ok ? row.transaction.id : (row.id ?? ''));

/** @param on.beforePage changes the list before a page is answered. */
function createList(rows = BASE_ROWS) {
  let made = rows;
  let second = 1_000 + Math.floor(rows / 3);
  // three rows a second, the newest first
  const list = Array.from({ length: rows }, (_, number) => {
    const status = number % 4 === 0 ? 'pending' : 'paid';
    return { number, second: 1_000 + Math.floor(number / 3), status, amount: '1.00' };
  }).reverse();
  const on = { beforePage: (_page: number): void => undefined, total: (count: number): number => count };
  const asked: number[] = [];
  /** Ids that the list held at the last answer. */
  let held: string[] = [];
  const make = (at: number): Facts => ({ number: made++, second: at, status: 'pending', amount: '1.00' });
  const client: ListClient = {
    async listPage(_, page) {
      on.beforePage(page);
      asked.push(page);
      held = list.map((row) => idOf(parse(row)));
      const shown = list.slice((page - 1) * 100, page * 100).map(parse);
      const [askedAt, lastPage] = [new Date(0), Math.ceil(list.length / 100)];
      const paging = { total: on.total(list.length), lastPage, nextPage: undefined };
      return { page, askedAt, rows: shown, ...paging, bodyHash: Buffer.alloc(32) };
    },
  };
  return {
    ...{ list, on, asked, client },
    heldAtLastAnswer: () => held,
    add(count: number): void {
      for (let index = 0; index < count; index++) list.unshift(make(second + Math.floor(index / 3)));
      second += Math.ceil(count / 3);
    },
    /** A row that becomes visible among the newest `within` rows, with the time of its neighbour. */
    addLate(within: number): void {
      const place = 1 + (made % within);
      list.splice(place, 0, make(list[place]?.second ?? 0));
    },
    /** A row at `place`, with the time of its neighbour. */
    addAt: (place: number): void => void list.splice(place, 0, make(list[place]?.second ?? 0)),
    remove: (place: number): void => void list.splice(place, 1),
    change(place: number, news: Partial<Facts>): void {
      const row = list[place];
      if (row) list[place] = { ...row, ...news };
    },
    pay(place: number): void {
      const open = list.findIndex((row, index) => index >= place && row.status === 'pending');
      if (open >= 0) this.change(open, { status: 'paid' });
    },
  };
}
type List = ReturnType<typeof createList>;

async function collect<Reading>(pages: AsyncGenerator<{ rows: ParsedRow[] }, Reading>) {
  const ids: string[] = [];
  for (;;) {
    const { done, value } = await pages.next();
    if (done) return { reading: value, ids };
    ids.push(...value.rows.map(idOf));
  }
}

/** What a complete reading leaves behind. */
async function learn({ list, client }: Pick<List, 'list' | 'client'>) {
  const rows = createSeenRows();
  for (const row of list.map(parse))
    if (row.ok) rows.set(row.transaction.id, row.digest.toString('base64', 0, 12), row.transaction.createdWall);
  const before = [...rows.entries()].map(({ id }) => id);
  const { reading, ids } = await collect(learnHead(client, {}, rows, OPTIONS));
  return { reading, known: new Set([...before, ...ids]) };
}

async function learnt(list: List): Promise<ListHead> {
  const { reading } = await learn(list);
  if ('doubt' in reading) throw new Error(reading.doubt);
  list.asked.length = 0;
  return reading.head;
}

const read = async (list: Pick<List, 'client'>, head: ListHead) =>
  (await collect(readRecent(list.client, {}, head, OPTIONS))).reading;

describe('a list that changes between readings and between pages', () => {
  const change = fc.oneof(
    fc.record({ kind: fc.constant('add' as const), count: fc.integer({ min: 0, max: 250 }) }),
    fc.record({ kind: fc.constant('add' as const), count: fc.integer({ min: 0, max: 3 }) }),
    fc.record({ kind: fc.constant('pay' as const), place: fc.nat(600) }),
    fc.record({ kind: fc.constant('late' as const) }),
    fc.record({ kind: fc.constant('odd' as const), place: fc.nat(899) }),
  );
  const rare = fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.array(change) });
  const tick = fc.record({ before: fc.array(change, { maxLength: 4 }), between: fc.array(rare, { maxLength: 6 }) });

  type Change = typeof change extends fc.Arbitrary<infer Drawn> ? Drawn : never;

  /** `odd`: rows vanish, or appear anywhere. Not both: two that cancel out are only found by a whole reading. */
  function apply(list: List, changes: readonly Change[], odd: string): void {
    for (const one of changes) {
      if (one.kind === 'add') list.add(one.count);
      else if (one.kind === 'pay') list.pay(one.place);
      else if (one.kind === 'late' && odd !== 'vanish') list.addLate(40);
      else if (one.kind === 'odd' && odd === 'vanish') list.remove(one.place);
      else if (one.kind === 'odd' && odd === 'appear') list.addAt(one.place);
    }
  }

  test('a recent reading that concludes has missed no row, and the list holds every row that it knows', async () => {
    let concluded = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(tick, { minLength: 1, maxLength: 4 }),
        fc.constantFrom('none', 'none', 'vanish', 'appear'),
        async (ticks, odd) => {
          const list = createList();
          let { reading, known: ours } = await learn(list);
          for (const { before, between } of ticks) {
            if ('doubt' in reading) ({ reading, known: ours } = await learn(list));
            if ('doubt' in reading) throw new Error(reading.doubt);
            apply(list, before, odd);
            list.asked.length = 0;
            const rowsBefore = list.list.length;
            list.on.beforePage = () => apply(list, between[list.asked.length] ?? [], odd);
            const recent = await collect(readRecent(list.client, {}, reading.head, OPTIONS));
            list.on.beforePage = () => undefined;
            reading = recent.reading;
            if ('doubt' in reading) continue;
            concluded++;
            for (const id of recent.ids) ours.add(id);
            expect(new Set(list.heldAtLastAnswer())).toEqual(ours);
            // a row far below the newest costs the pages above it
            if (odd === 'appear') continue;
            // rows that come in move those below: they cost their own page, and one that is shown again
            const cameIn = list.list.length - rowsBefore;
            expect(list.asked.length).toBeLessThanOrEqual((reading.fresh + cameIn) / 100 + 5);
          }
        },
      ),
      { ...propertyOptions(20, 600), seed: chooseSeed(20_261_123) },
    );
    // else the property would hold of a reader that concludes nothing
    expect(concluded).toBeGreaterThan(numRuns(20, 300));
  }, 240_000);
});

test.each([
  [0, 1],
  [1, 3],
  [99, 3],
  [100, 3],
  [101, 4],
  [1_000, 12],
])('%i new rows take %i requests: their pages, one that is known, and a count', async (count, requests) => {
  const list = createList();
  const head = await learnt(list);
  list.add(count);
  const reading = await read(list, head);
  expect(reading).toMatchObject({ fresh: count, head: { total: BASE_ROWS + count } });
  expect(list.asked).toHaveLength(requests);
});

test('the head that a recent reading leaves is the newest rows as they are now', async () => {
  const list = createList();
  const head = await learnt(list);
  list.add(130);
  list.change(140, { status: 'refund' });
  const reading = await read(list, head);
  if ('doubt' in reading) throw new Error(reading.doubt);
  expect(reading.head).toEqual(await learnt(list));
  expect(reading.head.rows).toHaveLength(HEAD_ROWS);
});

test('rows that are listed late, between known ones, are read', async () => {
  const list = createList();
  const head = await learnt(list);
  list.add(10);
  for (let late = 0; late < 20; late++) list.addLate(45);
  expect(await read(list, head)).toMatchObject({ fresh: 30 });
});

test('a total that was counted a moment before its rows is asked for again', async () => {
  const list = createList();
  const head = await learnt(list);
  list.on.beforePage = () => list.add(1);
  let answers = 0;
  list.on.total = (count) => (answers++ < 3 ? count - 1 : count);
  expect(await read(list, head)).toMatchObject({ fresh: 4 });
  expect(list.asked).toEqual([1, 2, 1, 1]);
});

test.each<[string, (list: List) => void, RegExp]>([
  ['a row that vanishes below the overlap', (list) => list.remove(700), /the total fell from 900 to 899/],
  [
    'one that vanishes while another comes',
    (list) => {
      list.remove(700);
      list.add(1);
    },
    /the total fell from 901 to 900/,
  ],
  ['a row that appears below the overlap', (list) => list.addAt(700), /counts 901 rows, 900 are known/],
  [
    'a known row that vanishes while another comes',
    (list) => {
      list.remove(40);
      list.add(1);
    },
    /a known row is not in its place/,
  ],
  [
    'a known row that moves to the front when it changes',
    (list) => list.list.unshift(...list.list.splice(300, 1)),
    /a known row is not in its place/,
  ],
  [
    'an older row that moves to the front when it changes',
    (list) => list.list.unshift(...list.list.splice(700, 1)),
    /no 100 known rows follow each other/,
  ],
  [
    'rows of one second in another order',
    (list) => list.list.splice(31, 2, ...list.list.slice(31, 33).reverse()),
    /a known row is not in its place/,
  ],
  ['an ended row with another amount', (list) => list.change(1, { amount: '2.00' }), /a row that had ended changed/],
  ['an ended row that is open again', (list) => list.change(1, { status: 'pending' }), /a row that had ended changed/],
  ['a row with another creation', (list) => list.change(2, { second: 2_000 }), /not in the order of their creation/],
  ['a row that can not be read', (list) => list.change(1, { amount: 'ten' }), /a row that had ended changed/],
  ['a list that is empty', (list) => list.list.splice(0), /page 1 is not full/],
  [
    'a total that is too high',
    (list) => {
      list.on.total = (count) => count + 1;
    },
    /counts 901 rows, 900 are known/,
  ],
  [
    'a total that never moves',
    (list) => {
      list.on.total = () => 900;
      list.add(5);
    },
    /the total fell from 905 to 900/,
  ],
])('%s is a doubt', async (_, change, doubt) => {
  const list = createList();
  const head = await learnt(list);
  change(list);
  expect(await read(list, head)).toEqual({ doubt: expect.stringMatching(doubt) });
});

test.each<[string, (list: List) => void]>([
  ['an open row that is paid', (list) => list.pay(0)],
  ['a payment that is refunded', (list) => list.change(1, { status: 'refund' })],
  ['a row below the overlap that changes', (list) => list.change(700, { amount: '2.00' })],
])('%s is no doubt', async (_, change) => {
  const list = createList();
  const head = await learnt(list);
  change(list);
  expect(await read(list, head)).toMatchObject({ fresh: 0 });
});

test('two changes below the overlap that cancel out are not seen: only a whole reading finds them', async () => {
  const list = createList();
  const head = await learnt(list);
  list.remove(700);
  list.addAt(650);
  expect(await read(list, head)).toMatchObject({ fresh: 0 });
});

describe('no head is learnt from', () => {
  test.each<[string, (list: List) => void, RegExp]>([
    ['the oldest first', (list) => list.list.reverse(), /not in the order|do not show the newest/],
    ['the newest first, but for one', (list) => list.list.push(...list.list.splice(3, 1)), /do not show the newest/],
    ['fewer rows than a head has', (list) => list.list.splice(HEAD_ROWS - 1), /not full/],
    [
      'a total that is too high',
      (list) => {
        list.on.total = (count) => count + 1;
      },
      /901 rows, 900 are known/,
    ],
  ])('a list with %s', async (_, change, doubt) => {
    const list = createList();
    change(list);
    const { reading } = await learn(list);
    expect(reading).toEqual({ doubt: expect.stringMatching(doubt) });
  });

  test('pages of another size', async () => {
    const list = createList();
    const halves: ListClient = {
      async listPage(query, page) {
        const whole = await list.client.listPage(query, page);
        return whole && { ...whole, rows: whole.rows.slice(0, 50) };
      },
    };
    const { reading } = await learn({ list: list.list, client: halves });
    expect(reading).toEqual({ doubt: 'page 1 is not full' });
  });
});

test('rows of other days are a doubt', async () => {
  const list = createList();
  const head = await learnt(list);
  const { reading } = await collect(readRecent(list.client, {}, head, { belongs: () => false }));
  expect(reading).toEqual({ doubt: 'the list holds rows of other days' });
});

test('a page that fails ends the reading with its error', async () => {
  const list = createList();
  const head = await learnt(list);
  list.add(1);
  list.on.beforePage = (page) => {
    if (page === 2) throw new Error('cut');
  };
  await expect(read(list, head)).rejects.toThrow('cut');
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { StoredPage } from '../../../src/provider/list/collect-rows.ts';
import { type ListReading, PASSES_MAX, readList } from '../../../src/provider/list/read-list.ts';
import type { ListClient } from '../../../src/provider/list/run-pass.ts';
import { message } from '../../../src/texts/messages.ts';
import { chooseSeed, numRuns, propertyOptions } from '../../support/property.ts';
import { createDriftingList, OLD, type Quirks, readToEnd, rowOf, STABLE_LIST } from './drifting-list.ts';

const BEGAN = '2026-03-02 11:59:00';

async function read(quirks: Partial<Quirks>, running = false) {
  const { client, held, asked } = createDriftingList({ ...STABLE_LIST, ...quirks });
  const options = { now: () => new Date(), growsSince: () => (running ? BEGAN : undefined) };
  const reading = await readToEnd(readList(client, {}, options));
  return { reading, asked, missed: held.filter((id) => !reading.seenRows.has(id)) };
}

const quirks = fc.record({
  rows: fc.integer({ min: 250, max: 2500 }),
  seed: fc.integer(),
  pageSize: fc.constantFrom(100, 100, 100, 50, 101),
  order: fc.constantFrom('stays', 'stays', 'stays', 'random'),
  jumpsPerPage: fc.constantFrom(0, 1, 2, 7),
  insertsPerPage: fc.constantFrom(0, 0, 1, 3),
  insertsAt: fc.constantFrom('head', 'tail'),
  totalOff: fc.constantFrom(0, 0, 0, -1, 1, -150, 40),
  lastPage: fc.constantFrom('right', 'right', 'absent', 'short'),
  pages: fc.constantFrom('right', 'right', 'right', 'ignored', 'clamped'),
  beyond: fc.constantFrom('empty', 'absent'),
  overtaking: fc.boolean(),
} satisfies { [K in keyof Quirks]: fc.Arbitrary<Quirks[K]> });

describe('a list that drifts, repeats pages or announces wrong totals', () => {
  test('a complete reading has not missed a row that was listed from its start to its end', async () => {
    let proven = 0;
    await fc.assert(
      fc.asyncProperty(quirks, fc.boolean(), async (drawn, running) => {
        // no reader can detect a total that counts too few while rows are also moving
        const isMoving = drawn.jumpsPerPage + drawn.insertsPerPage > 0 || drawn.order === 'random';
        const { reading, missed } = await read(
          { ...drawn, totalOff: isMoving ? Math.max(0, drawn.totalOff) : drawn.totalOff },
          running,
        );
        if (reading.complete) proven++;
        expect(reading.complete ? missed : []).toEqual([]);
        expect(reading.passes).toBeLessThanOrEqual(PASSES_MAX);
      }),
      { ...propertyOptions(20, 200), seed: chooseSeed(20_261_122) },
    );
    // else the property would hold of a reader that proves nothing; about a quarter of these draws can be proven
    expect(proven).toBeGreaterThan(numRuns(0, 15));
  });
});

test.each([0, 1, 99, 100, 101, 250, 2500])(
  'an honest list of %i rows is proven in one pass, each page requested once',
  async (rows) => {
    for (const beyond of ['empty', 'absent'] as const) {
      const { reading, asked, missed } = await read({ rows, beyond });
      expect(reading).toMatchObject({ complete: true, passes: 1 });
      expect(missed).toEqual([]);
      // of an empty list the first page is the one that brings no row
      const pages = Math.ceil(rows / 100);
      expect(asked.toSorted((a, b) => a - b)).toEqual(Array.from({ length: pages + 1 }, (_, index) => index + 1));
    }
  },
);

test('a running day that does not grow costs as many requests as an ended one', async () => {
  expect((await read({ rows: 250 }, true)).asked).toHaveLength(4);
});

test.each(['head', 'tail'] as const)(
  'growth at the %s of a running day is no drift: one pass proves it',
  async (insertsAt) => {
    for (let seed = 0; seed < numRuns(4, 20); seed++) {
      const growing = { rows: 1000, insertsPerPage: 2, insertsAt, seed };
      expect((await read({ ...growing, overtaking: false }, true)).reading).toMatchObject({
        complete: true,
        passes: 1,
      });
      const { reading, missed } = await read(growing, true);
      expect(reading.complete).toBe(true);
      expect(missed).toEqual([]);
    }
  },
);

test('the same growth on an ended day is drift', async () => {
  expect((await read({ rows: 1000, insertsPerPage: 1 })).reading).toMatchObject({
    complete: false,
    passes: PASSES_MAX,
  });
});

test('rows that jump to the head as they change do not keep a reading from being proven', async () => {
  for (let seed = 0; seed < numRuns(4, 20); seed++) {
    const { reading, missed } = await read({ rows: 2500, jumpsPerPage: 2, seed });
    expect(reading.complete).toBe(true);
    expect(missed).toEqual([]);
  }
});

test('a server that ignores the page is never trusted, though all its answers are alike', async () => {
  const { reading } = await read({ pages: 'ignored', rows: 1000 });
  expect(reading.complete).toBe(false);
  expect(reading.reason).toMatchObject({ name: 'pass.pages_repeated', values: { seen: 100, total: 1000 } });
});

test('a server that gives the last page again past the end is proven in one pass', async () => {
  expect((await read({ pages: 'clamped', rows: 230 })).reading).toMatchObject({ complete: true, passes: 1 });
});

test('a total that counts too few is noticed past the end, and all pages are read', async () => {
  const { reading, missed } = await read({ totalOff: -600, lastPage: 'absent' });
  expect(missed).toEqual([]);
  expect(reading).toMatchObject({ complete: true, passes: 2 });
});

test('a total that counts too many proves nothing, however often it is read', async () => {
  const { reading } = await read({ totalOff: 1 });
  const reason = message('pass.ids_missing', { seen: 1000, total: 1001 });
  expect(reading).toMatchObject({ complete: false, passes: PASSES_MAX, reason });
});

test('pages of another size are proven by two passes alike', async () => {
  const { reading, missed } = await read({ pageSize: 50, lastPage: 'absent' });
  expect(missed).toEqual([]);
  expect(reading).toMatchObject({ complete: true, passes: 2 });
});

describe('a killed and resumed reading', () => {
  /** Reads until a kill at the given request; after a pause in which the list changes, resumes and reads to the end. */
  async function readTwice(drawn: Partial<Quirks>, diesAt: number, pause: number) {
    const list = createDriftingList({ ...STABLE_LIST, ...drawn });
    const kept = new Map<number, Map<number, StoredPage>>();
    const options = { now: () => new Date(), growsSince: () => undefined, storedPages: kept };
    const storePages = async (pages: ReturnType<typeof readList>): Promise<ListReading> => {
      for (;;) {
        const { done, value } = await pages.next();
        if (done) return value;
        const { pass, page, pageToStore } = value;
        if (pageToStore) kept.set(pass, (kept.get(pass) ?? new Map<number, StoredPage>()).set(page, pageToStore));
      }
    };
    const mortal: ListClient = {
      async listPage(query, page) {
        if (list.asked.length >= diesAt) throw new Error('killed');
        return await list.client.listPage(query, page);
      },
    };
    const first = await storePages(readList(mortal, {}, { ...options, storedPages: new Map() })).catch(() => undefined);
    if (first) return undefined;
    list.drift(pause);
    const askedBefore = list.asked.length;
    const reading = await readToEnd(readList(list.client, {}, options));
    const missed = list.held.filter((id) => !reading.seenRows.has(id));
    return { reading, missed, asked: list.asked.slice(askedBefore) };
  }

  test('is never complete with a missed row, for any change of the list in the pause', async () => {
    let proven = 0;
    await fc.assert(
      fc.asyncProperty(
        quirks,
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 0, max: 500 }),
        async (drawn, diesAt, pause) => {
          const read = await readTwice({ ...drawn, totalOff: Math.max(0, drawn.totalOff) }, diesAt, pause);
          if (read?.reading.complete) proven++;
          expect(read?.reading.complete ? read.missed : []).toEqual([]);
        },
      ),
      { ...propertyOptions(20, 200), seed: chooseSeed(20_261_122) },
    );
    // else the property would hold of a reader that proves nothing; how many are proven is chance
    expect(proven).toBeGreaterThan(0);
  });

  test('requests no stored page again', async () => {
    const read = await readTwice({ rows: 2500, overtaking: false }, 20, 0);
    expect(read?.reading).toMatchObject({ complete: true, passes: 1 });
    expect(read?.missed).toEqual([]);
    // 25 pages and the one after, less the 20 that were read
    expect(read?.asked).toHaveLength(6);
  });
});

test('a server that ignores the page is not trusted where its total is as wrong as its pages', async () => {
  const { reading, missed } = await read({ rows: 250, totalOff: -150, pages: 'ignored' });
  expect(missed).toHaveLength(150);
  expect(reading).toMatchObject({ complete: false, reason: { name: 'pass.pages_repeated' } });
});

test('a server that answers one page for another is not trusted, with the reason', async () => {
  const { client } = createDriftingList({ ...STABLE_LIST, rows: 1000 });
  const repeating: ListClient = { listPage: (query, page) => client.listPage(query, page === 4 ? 3 : page) };
  const options = { now: () => new Date(), growsSince: () => undefined };
  const reading = await readToEnd(readList(repeating, {}, options));
  const reason = message('pass.pages_repeated', { pages: 1, seen: 900, total: 1000 });
  expect(reading).toMatchObject({ complete: false, reason });
});

test('a row that one pass shows in two versions is inconsistent, a row shown alike twice is not', async () => {
  const page = (rows: ReturnType<typeof rowOf>[], number: number) => ({
    ...{
      page: number,
      askedAt: new Date(),
      rows,
      total: 2,
      lastPage: 1,
      nextPage: undefined,
      bodyHash: Buffer.alloc(32),
    },
  });
  const client: ListClient = {
    listPage: async (_, number) =>
      number === 1
        ? page([rowOf(1, OLD), rowOf(2, OLD)], 1)
        : page([rowOf(1, OLD), rowOf(2, '2026-03-01 10:00:01')], number),
  };
  const options = { now: () => new Date(), growsSince: () => undefined };
  const reading = await readToEnd(readList(client, {}, options));
  const two = rowOf(2, OLD);
  expect([...reading.inconsistentIds]).toEqual([two.ok ? two.transaction.id : '']);
});

test('a page that fails ends the reading only once no other page is in flight', async () => {
  let under = 0;
  let reached = 1;
  const client: ListClient = {
    async listPage(_, page) {
      under++;
      if (page > 1) await new Promise((resolve) => setTimeout(resolve, page * 10));
      reached = Math.max(reached, page);
      under--;
      if (page === 2) throw new Error('cut');
      const askedAt = new Date();
      const rows = Array.from({ length: 100 }, (__, index) => rowOf(page * 100 + index, OLD));
      return { page, askedAt, rows, total: 1000, lastPage: 10, nextPage: undefined, bodyHash: Buffer.alloc(32) };
    },
  };
  const options = { now: () => new Date(), growsSince: () => undefined };
  await expect(readToEnd(readList(client, {}, options))).rejects.toThrow('cut');
  expect({ under, reached }).toEqual({ under: 0, reached: 3 });
});

test('a first pass has two pages in flight, more with each page that brings rows, up to eight', async () => {
  const { client: list, asked } = createDriftingList({ ...STABLE_LIST, rows: 2500 });
  let inFlight = 0;
  const seen: number[] = [];
  const client: ListClient = {
    async listPage(query, page) {
      seen.push(++inFlight);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inFlight--;
      return await list.listPage(query, page);
    },
  };
  const reading = await readToEnd(readList(client, {}, { now: () => new Date(), growsSince: () => undefined }));
  expect(reading).toMatchObject({ complete: true, passes: 1 });
  expect(seen.slice(0, 3)).toEqual([1, 1, 2]);
  expect(Math.max(...seen)).toBe(8);
  // the last one is the page after the end
  expect(asked.length).toBe(26);
});

test('a busy reader has two pages in flight in the first pass, eight in the second, one later; none is requested for it', async () => {
  const { client: list, asked } = createDriftingList({ ...STABLE_LIST, rows: 2500, insertsPerPage: 1 });
  let [inFlight, inFlightMax] = [0, 0];
  const client: ListClient = {
    async listPage(query, page) {
      inFlightMax = Math.max(inFlightMax, ++inFlight);
      await new Promise((resolve) => setImmediate(resolve));
      inFlight--;
      return await list.listPage(query, page);
    },
  };
  const byPass: number[] = [];
  const pages = readList(client, {}, { now: () => new Date(), growsSince: () => undefined });
  for (let page = await pages.next(); !page.done; page = await pages.next()) {
    byPass[page.value.pass] = Math.max(byPass[page.value.pass] ?? 0, inFlightMax);
    // a busy reader: what is in flight arrives, and no other request follows
    const before = asked.length + inFlight;
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(asked.length).toBe(before);
    inFlightMax = 0;
  }
  expect(byPass.slice(1)).toEqual([2, 8, 1, 1, 1]);
});

describe('an announced total or last page', () => {
  const lying = (rows: number, total: number, lastPage: number, beyond: 'empty' | 'absent' | 'clamped' = 'empty') => {
    const asked: number[] = [];
    const all = Array.from({ length: rows }, (_, number) => rowOf(number, OLD));
    const client: ListClient = {
      async listPage(_, page) {
        asked.push(page);
        const last = Math.max(1, Math.ceil(rows / 100));
        if (page > last && beyond === 'absent') return undefined;
        const shown = beyond === 'clamped' ? Math.min(page, last) : page;
        const askedAt = new Date();
        const slice = all.slice((shown - 1) * 100, shown * 100);
        return { page, askedAt, rows: slice, total, lastPage, nextPage: undefined, bodyHash: Buffer.alloc(32) };
      },
    };
    const options = { now: () => new Date(), growsSince: () => undefined };
    const go = (surplus = 0) => readToEnd(readList(client, {}, { ...options, surplus }));
    return { asked, go };
  };

  test.each([
    ['a last_page of 300 beside 30 rows', 30, 30, 300, 1],
    ['a last_page of 99,999 beside 30 rows', 30, 30, 99_999, 1],
    ['a last_page of 99,999 beside 1,000 rows', 1000, 1000, 99_999, 1],
    ['a total of 30,000 beside 30 rows', 30, 30_000, 1, 5],
    ['a total and a last_page of millions beside 130 rows', 130, 9_000_000, 90_000, 5],
    ['a total of millions beside 1,000 rows', 1000, 9_000_000, 90_000, 5],
    ['a total of millions beside none', 0, 9_000_000, 90_000, 5],
  ])(
    '%s allows few pages more a pass: two, or as many as brought rows, up to eight',
    async (_, rows, total, lastPage, passes) => {
      for (const beyond of ['empty', 'absent', 'clamped'] as const) {
        const { asked, go } = lying(rows, total, lastPage, beyond);
        const reading = await go();
        // a full page that is shown again beyond the end may stand for one that is not shown
        const clean = passes === 1 && beyond !== 'clamped';
        if (clean) expect(reading).toMatchObject({ complete: true, passes });
        else expect(reading.passes).toBeLessThanOrEqual(PASSES_MAX);
        expect(reading.seenRows.size).toBe(rows);
        const pages = Math.ceil(rows / 100);
        expect(asked.length).toBeLessThanOrEqual(reading.passes * (pages + Math.max(2, Math.min(8, pages))));
      }
    },
  );

  test('a total that is too high by the same number in all five passes says by how many', async () => {
    const { go } = lying(130, 133, 2);
    expect(await go()).toMatchObject({ complete: false, passes: 5, surplus: 3, total: 133 });
  });

  test('a surplus that a person accepted is proven by two passes alike, and no other number is', async () => {
    expect(await lying(130, 133, 2).go(3)).toMatchObject({ complete: true, passes: 2, surplus: 3 });
    expect(await lying(130, 134, 2).go(3)).toMatchObject({ complete: false, passes: 5, surplus: 4 });
    expect(await lying(130, 130, 2).go(3)).toMatchObject({ complete: true, passes: 1, surplus: 0 });
    expect(await lying(130, 127, 2).go(3)).toMatchObject({ complete: true, passes: 2, surplus: 0 });
  });

  test('an accepted surplus does not hide rows that a drifting list left out', async () => {
    for (let seed = 0; seed < 40; seed++) {
      const { client, held } = createDriftingList({ ...STABLE_LIST, rows: 500, jumpsPerPage: 2, seed });
      const options = { now: () => new Date(), growsSince: () => undefined };
      const reading = await readToEnd(readList(client, {}, { ...options, surplus: 1 + (seed % 3) }));
      if (reading.complete) expect(held.filter((id) => !reading.seenRows.has(id))).toEqual([]);
    }
  });
});

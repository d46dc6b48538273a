import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ListClient } from '../../../src/provider/make-pass.ts';
import { PASSES_MAX, readList } from '../../../src/provider/read-list.ts';
import { HONEST, listOf, OLD, type Quirks, rowOf } from './drifting-list.ts';

const BEGAN = '2026-03-02 11:59:00';

async function read(quirks: Partial<Quirks>, running = false) {
  const { client, held, asked } = listOf({ ...HONEST, ...quirks });
  const reading = await readList(
    client,
    {},
    {
      now: () => new Date(),
      growsSince: () => (running ? BEGAN : undefined),
      onPage: async () => undefined,
    },
  );
  return { reading, asked, missed: held.filter((id) => !reading.ids.has(id)) };
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

describe('whatever the list does', () => {
  test('a reading that calls itself complete has not missed a row that was there all the while', async () => {
    let proven = 0;
    await fc.assert(
      fc.asyncProperty(quirks, fc.boolean(), async (drawn, running) => {
        // a total that counts too few while rows are also moving can't be told from a right one by anybody
        const told = drawn.jumpsPerPage + drawn.insertsPerPage > 0 || drawn.order === 'random';
        const { reading, missed } = await read(
          { ...drawn, totalOff: told ? Math.max(0, drawn.totalOff) : drawn.totalOff },
          running,
        );
        if (reading.complete) proven++;
        expect(reading.complete ? missed : []).toEqual([]);
        expect(reading.passes).toBeLessThanOrEqual(PASSES_MAX);
      }),
      { numRuns: 200 },
    );
    // else the property would hold of a reader that proves nothing; about 50 of these draws can be proven
    expect(proven).toBeGreaterThan(15);
  }, 60_000);
});

test.each([0, 1, 99, 100, 101, 250, 2500])(
  'an honest list of %i rows is proven in one pass, each page asked for once',
  async (rows) => {
    for (const beyond of ['empty', 'absent'] as const) {
      const { reading, asked, missed } = await read({ rows, beyond });
      expect(reading).toMatchObject({ complete: true, passes: 1 });
      expect(missed).toEqual([]);
      const pages = Math.max(1, Math.ceil(rows / 100));
      expect(asked.toSorted((a, b) => a - b)).toEqual(Array.from({ length: pages + 1 }, (_, index) => index + 1));
    }
  },
);

test('a running day that is not growing costs no request more than an ended one', async () => {
  expect((await read({ rows: 250 }, true)).asked).toHaveLength(4);
});

test.each(['head', 'tail'] as const)(
  'growth at the %s of a running day is no drift: one pass proves it',
  async (insertsAt) => {
    for (let seed = 0; seed < 20; seed++) {
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
  for (let seed = 0; seed < 20; seed++) {
    const { reading, missed } = await read({ rows: 2500, jumpsPerPage: 2, seed });
    expect(reading.complete).toBe(true);
    expect(missed).toEqual([]);
  }
});

test('a server that ignores the page is never believed, though all its answers are alike', async () => {
  const { reading } = await read({ pages: 'ignored', rows: 1000 });
  expect(reading.complete).toBe(false);
  expect(reading.why).toMatch(/100 ids were seen of 1000/);
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
  expect(reading).toMatchObject({ complete: false, passes: PASSES_MAX, why: '1000 ids were seen of 1001' });
});

test('pages of another size are proven by two passes alike', async () => {
  const { reading, missed } = await read({ pageSize: 50, lastPage: 'absent' });
  expect(missed).toEqual([]);
  expect(reading).toMatchObject({ complete: true, passes: 2 });
});

test('a page is dated by when it was asked for, not by when it was answered', async () => {
  let now = 0;
  const client: ListClient = {
    async listPage(_, page) {
      now += 1000;
      return { page, rows: page === 1 ? [rowOf(1, OLD)] : [], total: 1, lastPage: 1, nextPage: undefined, text: '' };
    },
  };
  const asked: number[] = [];
  await readList(
    client,
    {},
    {
      now: () => new Date(now),
      growsSince: () => undefined,
      onPage: async (page) => {
        asked.push(page.askedAt.getTime());
      },
    },
  );
  expect(asked).toEqual([0, 1000]);
});

test('a page that fails ends the reading only when no other page is under way any more', async () => {
  let under = 0;
  const client: ListClient = {
    async listPage(_, page) {
      under++;
      if (page > 1) await new Promise((resolve) => setTimeout(resolve, page * 10));
      under--;
      if (page === 2) throw new Error('cut');
      return { page, rows: [], total: 1000, lastPage: 10, nextPage: undefined, text: '' };
    },
  };
  const options = { now: () => new Date(), growsSince: () => undefined, onPage: async () => undefined };
  await expect(readList(client, {}, options)).rejects.toThrow('cut');
  expect(under).toBe(0);
});

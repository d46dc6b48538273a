import type { ListPage } from '../../../src/provider/client.ts';
import type { ListClient } from '../../../src/provider/list/run-pass.ts';
import { type ParsedRow, parseTransaction } from '../../../src/provider/parse-transaction.ts';
import { createRandom } from '../../support/property.ts';

export const OLD = '2026-03-01 10:00:00';
const NEW = '2026-03-02 12:00:00';

/** Reading a row costs more than serving it: each is read once, and served as often as asked for. */
const known = new Map<string, ParsedRow>();
export function rowOf(number: number, created: string): ParsedRow {
  const id = `0f0e0d0c-0000-4000-8000-${String(number).padStart(12, '0')}`;
  const row =
    known.get(id + created) ??
    parseTransaction({ id, operation: 'cashin', status: 'paid', amount: '1.00', date_created: created });
  known.set(id + created, row);
  return row;
}

export type Quirks = {
  rows: number;
  seed: number;
  pageSize: number;
  order: 'stays' | 'random';
  jumpsPerPage: number;
  insertsPerPage: number;
  insertsAt: 'head' | 'tail';
  totalOff: number;
  lastPage: 'right' | 'absent' | 'short';
  pages: 'right' | 'ignored' | 'clamped';
  beyond: 'empty' | 'absent';
  /** Whether answers overtake each other, as they do over several connections. */
  overtaking: boolean;
};
export const STABLE_LIST: Quirks = {
  rows: 1000,
  seed: 1,
  pageSize: 100,
  order: 'stays',
  jumpsPerPage: 0,
  insertsPerPage: 0,
  insertsAt: 'head',
  totalOff: 0,
  lastPage: 'right',
  pages: 'right',
  beyond: 'empty',
  overtaking: true,
};

/** A list that changes between two answers as `quirks` say. `held`: the ids that it held from the start to the end. */
export function createDriftingList(quirks: Quirks): {
  client: ListClient;
  held: string[];
  asked: number[];
  /** Applies the changes of this many answers. */
  drift(times: number): void;
} {
  const random = createRandom(quirks.seed);
  const list = Array.from({ length: quirks.rows }, (_, number) => rowOf(number, OLD));
  const held = list.map((row) => (row.ok ? row.transaction.id : ''));
  const asked: number[] = [];
  let next = quirks.rows;
  const drift = (): void => {
    for (let jump = 0; jump < quirks.jumpsPerPage; jump++) {
      const [row] = list.splice(Math.floor(random() * list.length), 1);
      if (row) list.unshift(row);
    }
    for (let insert = 0; insert < quirks.insertsPerPage; insert++) {
      const row = rowOf(next++, NEW);
      if (quirks.insertsAt === 'head') list.unshift(row);
      else list.push(row);
    }
    if (quirks.order === 'random') shuffle(list, random);
  };
  const serve = (page: number): ListPage | undefined => {
    const pages = Math.max(1, Math.ceil(list.length / quirks.pageSize));
    if (page > pages && quirks.beyond === 'absent') return undefined;
    const shown = quirks.pages === 'ignored' ? 1 : quirks.pages === 'clamped' ? Math.min(page, pages) : page;
    const lastPage = { right: pages, absent: 1, short: Math.max(1, pages - 2) }[quirks.lastPage];
    const rows = list.slice((shown - 1) * quirks.pageSize, shown * quirks.pageSize);
    return {
      page,
      askedAt: new Date(0),
      rows,
      total: Math.max(0, list.length + quirks.totalOff),
      lastPage,
      nextPage: undefined,
      bodyHash: Buffer.alloc(32),
    };
  };
  return {
    held,
    asked,
    drift: (times) => {
      for (let turn = 0; turn < times; turn++) drift();
    },
    client: {
      async listPage(_, page) {
        asked.push(page);
        for (let turn = quirks.overtaking ? Math.floor(random() * 3) : 0; turn > 0; turn--) await Promise.resolve();
        const answer = serve(page);
        drift();
        for (let turn = quirks.overtaking ? Math.floor(random() * 3) : 0; turn > 0; turn--) await Promise.resolve();
        return answer;
      },
    },
  };
}

/** Reads all pages of a list and drops them. @returns what the reading returns. */
export async function readToEnd<Reading>(pages: AsyncGenerator<unknown, Reading>): Promise<Reading> {
  for (;;) {
    const { done, value } = await pages.next();
    if (done) return value;
  }
}

function shuffle(list: ParsedRow[], random: () => number): void {
  for (let index = list.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1));
    const [a, b] = [list[index], list[other]];
    if (a && b) [list[index], list[other]] = [b, a];
  }
}

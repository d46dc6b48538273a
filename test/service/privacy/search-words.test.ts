/** The search by beginnings of words, and inside of them: what it finds, what forgetting leaves, and who may search so. */
import fc from 'fast-check';
import { sql } from 'kysely';

import { describe, expect, it, vi } from 'vitest';
import { rangeOfWord } from '../../../src/database/keys/index-person.ts';
import { foldName } from '../../../src/domain/person/fold-person.ts';
import { WORD_CHARS_MAX, WORD_CHARS_MIN } from '../../../src/domain/person/split-words.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { WORDS_READ_MAX } from '../../../src/ledger/read/find-words.ts';
import { startBudget } from '../../../src/ledger/read/search-budget.ts';
import { INSIDE_DAYS_MAX, searchTransactions } from '../../../src/ledger/read/search-transactions.ts';
import type { SearchCursor, TransactionQuery } from '../../../src/ledger/read/transaction-query.ts';
import { indexParties, WORDS_MAX } from '../../../src/privacy/index-parties.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { makeShownTransaction, observeNow } from '../../support/read-ledger-state.ts';

const environment = closeAfterAll(await openEnvironment());

type Shown = Parameters<typeof makeShownTransaction>[1];
const read = (query: Partial<TransactionQuery>, budget?: ReturnType<typeof startBudget>) =>
  searchTransactions(environment.context.db, environment.context.keys, { by: 'created', limit: 50, ...query }, budget);
const idsOf = async (query: Partial<TransactionQuery>) => (await read(query)).transactions.map(({ id }) => id);

async function apply(...shown: Shown[]) {
  const rows = shown.map((one) => {
    const events = one?.date_created ? [{ status: 'paid', date_created: one.date_created }] : undefined;
    return makeShownTransaction(['paid'], { ...one, ...(events && { events }) });
  });
  await applyObservations(
    environment.context,
    rows.map((row) => observeNow(environment.context, row)),
  );
  await indexParties(environment.context);
  return rows;
}

describe('the search by beginnings of words', () => {
  it('finds a transaction by any words of its name, e-mail, PIX key, reference and extra', async () => {
    const [row] = await apply({
      ...{ name: 'JOÃO da Conceição', email: 'joao.conc@Loja-Azul.example', pix_key: 'chave@banco.example' },
      ...{ reference: 'Pedido/2026-000777', extra: '{"mesa":"Varanda 12"}' },
    });
    for (const words of [
      ...[
        'conceição',
        'CONCEI',
        'joao conc',
        'conc joão',
        'da conceicao',
        'joao.conc@loja-azul.example',
        'azul',
        'chave@',
      ],
      ...['000777', 'pedido/2026', 'varan', 'mesa joao 0007'],
    ])
      expect([words, await idsOf({ words })]).toEqual([words, [row?.id]]);
    for (const words of ['onceicao', 'joao silva', '00777', 'banc0', 'joaoo'])
      expect([words, await idsOf({ words })]).toEqual([words, []]);
    expect(await idsOf({ words: 'conc', status: 'refund' })).toEqual([]);
  });

  it('follows each text that changes', async () => {
    const [row] = await apply({ name: 'Quitéria Velha' });
    if (!row) throw new Error('no row');
    // what comes later alone leaves the party as it was
    const later = { ...row, extra: 'segundo' };
    await applyObservations(environment.context, [observeNow(environment.context, later, 1)]);
    expect(await indexParties(environment.context)).toBe(1);
    expect(await idsOf({ words: 'velha segundo' })).toEqual([row.id]);
    await applyObservations(environment.context, [observeNow(environment.context, { ...later, name: 'Nova' }, 2)]);
    await indexParties(environment.context);
    expect([await idsOf({ words: 'velha' }), await idsOf({ words: 'nova segundo' })]).toEqual([[], [row.id]]);
    expect(await indexParties(environment.context)).toBe(0);
  });

  it('indexes rows of the version before, goes on after a stop, and stores no letter of a word', async () => {
    const { db } = environment.context;
    const [row] = await apply({ name: 'Zuleica Antiga' });
    // as the migration leaves them
    await sql`DELETE FROM search_words`.execute(db);
    await sql`UPDATE parties SET index_due = DEFAULT(index_due)`.execute(db);
    expect(await idsOf({ words: 'zuleica' })).toEqual([]);
    await indexParties({ ...environment.context, signal: AbortSignal.abort() });
    expect(await indexParties(environment.context)).toBeGreaterThan(0);
    expect(await idsOf({ words: 'zuleica' })).toEqual([row?.id]);
    const { rows } = await sql`SELECT 1 FROM search_words WHERE LOWER(CONVERT(word USING latin1)) LIKE '%zul%'`.execute(
      db,
    );
    expect(rows).toEqual([]);
  });

  it(`indexes the first ${WORDS_MAX} words of a transaction`, async () => {
    const extra = Array.from({ length: WORDS_MAX + 5 }, (_, n) => `palavra${n}x`).join(' ');
    const [row] = await apply({ reference: 'r', extra });
    expect(await idsOf({ words: `palavra${WORDS_MAX - 1}x` })).toEqual([row?.id]);
    expect(await idsOf({ words: `palavra${WORDS_MAX}x` })).toEqual([]);
  });

  it('pages the newest first, also those that were stored later, by words of which one is rarer, and other terms', async () => {
    const N = 40;
    const shown = Array.from({ length: N }, (_, n) => ({
      name: `Paginada ${n % 3 ? 'Comum Comumente' : 'Outra'}`,
      reference: `pagin-${n % 4}`,
      // some share a second
      date_created: `2026-02-${String(1 + ((n * 17) % 25)).padStart(2, '0')} 10:00:00`,
    }));
    const rows = await apply(...shown);
    for (const query of [
      { words: 'pagin' },
      { words: 'comum paginad' },
      { words: 'pagin comum', reference: 'pagin-1' },
      { words: 'pagin', from: '2026-02-03', to: '2026-02-20' },
      { words: 'pagin outra', by: 'status' as const },
    ]) {
      const { from = '', to = '9' } = query;
      const isFound = (n: number) =>
        (!query.words.includes('comum') || n % 3 !== 0) &&
        (!query.words.includes('outra') || n % 3 === 0) &&
        (!query.reference || n % 4 === 1) &&
        (shown[n]?.date_created ?? '') >= from &&
        (shown[n]?.date_created ?? '') < `${to}~`;
      const wanted = rows.flatMap(({ id }, n) => (isFound(n) ? [{ id, wall: shown[n]?.date_created ?? '' }] : []));
      const met: { id: string; wall: string }[] = [];
      let after: SearchCursor | undefined;
      do {
        const page = await read({ ...query, limit: 2, after });
        met.push(...page.transactions.map(({ id, createdWall }) => ({ id, wall: createdWall })));
        after = page.next;
      } while (after && met.length <= N);
      expect(met.map(({ id }) => id).toSorted()).toEqual(wanted.map(({ id }) => id).toSorted());
      expect(met.map(({ wall }) => wall)).toEqual(
        met
          .map(({ wall }) => wall)
          .toSorted()
          .toReversed(),
      );
    }
  });

  it('indexes a transaction of any year that the provider shows', async () => {
    const [row] = await apply({ name: 'Bissexta Antiquissima', date_created: '0000-02-29 10:00:00' });
    expect(await idsOf({ words: 'bissext antiq' })).toEqual([row?.id]);
  });

  it('reads the rarest word in the order of time from its index alone, of frequent ones the newest transactions', async () => {
    const { db, keys } = environment.context;
    const [row] = await apply({ name: 'Frequentada Infrequente', date_created: '2026-03-03 10:00:00' });
    const { first, last } = rangeOfWord(keys, 'frequentad');
    const { rows: plan } = await sql<{ rows: unknown; Extra: string }>`EXPLAIN SELECT transaction_seq FROM search_words
      FORCE INDEX (search_words_word) WHERE word >= ${first} AND word <= ${last} ORDER BY created_wall`.execute(db);
    expect(plan[0]?.Extra).toMatch(/Using index(?! condition)/);
    expect(Number(plan[0]?.rows)).toBe(1);
    const executor = db.getExecutor();
    const execute = executor.executeQuery.bind(executor);
    const run = vi.spyOn(executor, 'executeQuery').mockImplementation(async (query, ...others) => {
      const isFrequent = query.sql.startsWith('EXPLAIN') && first.equals(query.parameters[0] as Buffer);
      // cast: a row of an EXPLAIN
      return isFrequent ? ({ rows: [{ rows: WORDS_READ_MAX + 1 }] } as never) : await execute(query, ...others);
    });
    const ids = async (words: string) => {
      run.mockClear();
      return await idsOf({ words });
    };
    const compared = () => run.mock.calls.filter(([{ sql: text }]) => text.includes('FORCE INDEX (PRIMARY)')).length;
    expect([await ids('frequentad'), compared(), run.mock.calls.length]).toEqual([[row?.id], 1, 2]);
    expect([await ids('infreq frequentad'), compared(), run.mock.calls.length]).toEqual([[row?.id], 1, 4]);
    expect([await ids('infreq infrequ'), compared(), run.mock.calls.length]).toEqual([[row?.id], 0, 4]);
    expect([await ids('infreq'), compared(), run.mock.calls.length]).toEqual([[row?.id], 0, 3]);
    run.mockRestore();
  });

  it('finds exactly what a scan over folded words finds', async () => {
    const word = fc.string({
      unit: fc.constantFrom('a', 'A', 'á', 'b', 'ç', 'ß', '1', 'İ', '漢'),
      minLength: 1,
      maxLength: 20,
    });
    const text = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(' '));
    const shown = fc.record({ name: text, reference: text, extra: text });
    await fc.assert(
      fc.asyncProperty(
        fc.array(shown, { minLength: 1, maxLength: 6 }),
        fc.array(text, { maxLength: 8 }),
        async (all, asked) => {
          const rows = await apply(...all.map((one) => one));
          const stored = await environment.context.db
            .selectFrom('transactions')
            .innerJoin('parties', 'parties.transaction_seq', 'transactions.seq')
            .select(['id', 'name', 'reference', 'extra'])
            .where(
              'id',
              'in',
              rows.map(({ id }) => id),
            )
            .execute();
          const known = all.flatMap((one) => Object.values(one).flatMap((value) => value.split(' ')));
          for (const query of [...asked, ...known.map((one) => one.slice(0, 4)), ...known]) {
            const wanted = scan(query);
            if (wanted.length === 0) continue;
            const matching = stored.filter((one) => {
              const theirs = scan([one.name, one.reference, one.extra].join(' '));
              return wanted.every((beginning) => theirs.some((other) => other.startsWith(beginning)));
            });
            const found = await idsOf({ words: query, seqs: await seqsOf(rows.map(({ id }) => id)) });
            expect(found.toSorted()).toEqual(matching.map(({ id }) => id).toSorted());
          }
        },
      ),
      { numRuns: 15 },
    );
  }, 120_000);
});

/** The folded words of a text, split another way. */
function scan(text: string): string[] {
  const chars = [...foldName(text)].map((char) => (/[\p{L}\p{N}]/u.test(char) ? char : ' '));
  const words: string[][] = [[]];
  for (const char of chars) {
    if (char === ' ') words.push([]);
    else words.at(-1)?.push(char);
  }
  return words.filter(({ length }) => length >= WORD_CHARS_MIN).map((one) => one.slice(0, WORD_CHARS_MAX).join(''));
}

async function seqsOf(ids: string[]): Promise<number[]> {
  const rows = await environment.context.db.selectFrom('transactions').select('seq').where('id', 'in', ids).execute();
  return rows.map(({ seq }) => seq);
}

describe('the search inside of words', () => {
  const DAYS = { from: '2026-01-01', to: '2026-04-05' };

  it('finds a part of any text within its days, without case and accents', async () => {
    const [row] = await apply({
      ...{ name: 'Ana Sebastião', email: 'ana@correio.example', reference: 'ref_100%!', extra: 'mesa-do-canto' },
      date_created: '2026-03-01 10:00:00',
    });
    for (const inside of ['BASTIAO', 'bastião', 'orreio', 'f_100%!', 'do-can'])
      expect([inside, await idsOf({ inside, ...DAYS })]).toEqual([inside, [row?.id]]);
    for (const inside of ['f%100', 'fx100', 'ana seb ana']) expect(await idsOf({ inside, ...DAYS })).toEqual([]);
    expect(await idsOf({ inside: 'bastiao', from: '2026-03-02', to: '2026-04-05' })).toEqual([]);
    expect(await idsOf({ inside: 'bastiao', words: 'canto', ...DAYS })).toEqual([row?.id]);
  });

  it('meets each transaction once over its pages, the newest first, also where its time is spent within the days', async () => {
    const days = [
      '2026-03-31 23:59:59',
      '2026-03-31 00:00:00',
      '2026-03-30 00:00:00',
      '2026-03-30 00:00:00',
      '2026-01-01 00:00:00',
    ];
    const rows = await apply(...days.map((date_created) => ({ name: 'Xerafina Pontual', date_created })));
    const met: string[] = [];
    let after: SearchCursor | undefined;
    let short = 0;
    do {
      // the time for a few days
      let left = 8;
      const page = await read(
        { inside: 'erafin', ...DAYS, limit: 2, after },
        { leftMs: () => (left-- > 0 ? 5_000 : 0) },
      );
      if (page.transactions.length < 2 && page.next) short++;
      met.push(...page.transactions.map(({ id }) => id));
      after = page.next;
    } while (after && met.length < 20);
    expect(short).toBeGreaterThan(1);
    expect(met.toSorted()).toEqual(rows.map(({ id }) => id).toSorted());
    expect(met.at(-1)).toBe(rows.at(-1)?.id);
    await expect(read({ inside: 'erafin', ...DAYS }, startBudget(0))).rejects.toMatchObject({
      code: 'invalid_request',
    });
    expect(INSIDE_DAYS_MAX).toBe(95);
  });
});

import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { listResponseSchema } from '../../../sandbox/http/response-schemas.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { propertyOptions } from '../../support/property.ts';
import { PLATFORM, type Shown, startTestSandbox } from '../../support/start-test-sandbox.ts';

const OTHER = '5f6c2f0a-7f7e-4b0a-8f0f-9d1c6a2b3c02';
const STATUSES = ['pending', 'paid', 'denied', 'canceled', 'refund', 'in_process', 'in_analysis', 'expired'];
const NAMES = ['José Antônio', 'jose silva', 'Maria 100% Ltda', 'Ana_Clara', 'Zé'];
const PEOPLE = ['52998224725', '11222333000181'];

const sandbox = closeAfterAll(await startTestSandbox());
let all: Shown[];

beforeAll(async () => {
  const transactions = Array.from({ length: 730 }, (_, i) => ({
    operation: i % 3 === 0 ? 'cashout' : 'cashin',
    status: STATUSES[i % STATUSES.length],
    date_created: `2026-03-${String(1 + (i % 5)).padStart(2, '0')} ${i % 7 === 0 ? '00:00:00' : i % 11 === 0 ? '23:59:59' : '12:00:00'}`,
    name: NAMES[i % NAMES.length],
    document: PEOPLE[i % PEOPLE.length],
    phone: `1198765432${i % 4}`,
    platform: i % 4 === 0 ? OTHER : PLATFORM,
    reference: i % 100 === 0 ? 'Ref' : `ref-${i}`,
    ...(i % 3 === 0 ? { pix_key: `chave${i % 6}@exemplo.com.br` } : {}),
  }));
  await sandbox.request('POST', '/sandbox/transactions', { transactions });
  all = await readAll('');
});

async function readPage(query: string) {
  const { status, json } = await sandbox.request('GET', `/api/v1/transactions?${query}`);
  expect(status).toBe(200);
  return json;
}

async function readAll(query: string): Promise<Shown[]> {
  const read: Shown[] = [];
  for (let page = 1; ; page++) {
    const json = await readPage(`${query}&page=${page}`);
    read.push(...json.transactions);
    if (json.next_page_url === false) return read;
  }
}

describe('a page of the list', () => {
  it('has exactly 100 transactions, the last page the rest, and the pagination block at the same level', async () => {
    for (const [page, rows] of [
      [1, 100],
      [2, 100],
      [7, 100],
      [8, 30],
    ] as const) {
      const json = await readPage(`page=${page}`);
      expect(listResponseSchema.safeParse(json).error).toBeUndefined();
      expect(json.transactions).toHaveLength(rows);
      expect(json).toMatchObject({ current_page: page, last_page: 8, total: 730 });
    }
  });

  it('names the next page without the api segment and with the filters in force, and false at the end', async () => {
    const first = await readPage(`platform=${PLATFORM}&initial_date=2026-03-01&status=&page=1`);
    const next = new URL(String(first.next_page_url));
    expect(next.origin).toBe(sandbox.url);
    expect(next.pathname).toBe('/v1/transactions');
    expect(Object.fromEntries(next.searchParams)).toEqual({
      page: '2',
      platform: PLATFORM,
      initial_date: '2026-03-01',
    });
    expect((await readPage('page=8')).next_page_url).toBe(false);
    expect((await readPage('reference=none')).next_page_url).toBe(false);
  });

  it('mixes both kinds, newest first, each with its events, cashouts without e2e_id', async () => {
    expect(new Set(all.map(({ operation }) => operation))).toEqual(new Set(['cashin', 'cashout']));
    const created = all.map(({ date_created }) => date_created);
    expect(created).toEqual(created.toSorted().reverse());
    for (const one of all) {
      expect(one.events.at(-1)?.status).toBe('pending');
      expect(one.events[0]?.status).toBe(one.status);
      expect('e2e_id' in one).toBe(one.operation === 'cashin');
      expect('qr_code' in one).toBe(one.operation === 'cashin');
      expect('pix_key' in one).toBe(one.operation === 'cashout');
    }
  });

  it('is empty past the end', async () => {
    expect(await readPage('page=9')).toMatchObject({
      transactions: [],
      current_page: 9,
      total: 730,
      next_page_url: false,
    });
  });

  it.each([
    ['identifier', 'not-a-uuid'],
    ['platform', '1'],
    ['status', 'settled'],
    ['initial_date', '2026-02-30'],
    ['final_date', '30/03/2026'],
    ['reference', 'r'.repeat(51)],
    ['page', '0'],
    ['page', '-1'],
    ['page', 'two'],
    ['page', '99999999999999999999'],
  ])('refuses %s=%s with 422 and the name of the field', async (field, value) => {
    const { status, json } = await sandbox.request('GET', `/api/v1/transactions?${field}=${value}`);
    expect(status).toBe(422);
    expect(Object.keys(json.errors)).toEqual([field]);
  });
});

type Filters = Partial<
  Record<
    | 'status'
    | 'name_document'
    | 'phone'
    | 'initial_date'
    | 'final_date'
    | 'platform'
    | 'pix_key'
    | 'reference'
    | 'identifier',
    string
  >
>;

describe('the filters', () => {
  it('find one by its identifier, and a reference byte for byte', async () => {
    const [, one] = all;
    expect((await readPage(`identifier=${one?.id}`)).transactions).toEqual([one]);
    expect((await readPage('reference=Ref')).total).toBe(8);
    expect((await readPage('reference=ref')).total).toBe(0);
    expect((await readPage('reference=Ref%20')).total).toBe(0);
  });

  it('take dates with both ends within, to the second', async () => {
    const days = await readAll('initial_date=2026-03-02&final_date=2026-03-03');
    expect(days).toEqual(all.filter(({ date_created }) => date_created >= '2026-03-02' && date_created < '2026-03-04'));
    expect(days.some(({ date_created }) => date_created === '2026-03-02 00:00:00')).toBe(true);
    expect(days.some(({ date_created }) => date_created === '2026-03-03 23:59:59')).toBe(true);
  });

  it('search for a part of a name without regard to case and accents, or for a whole document', async () => {
    expect((await readPage('name_document=JOSE')).total).toBe(all.filter(({ name }) => /jos[eé]/i.test(name)).length);
    expect((await readPage('name_document=100%25')).total).toBe(146);
    expect((await readPage('name_document=_')).total).toBe(146);
    expect((await readPage('name_document=52998224725')).total).toBe(365);
    expect((await readPage('name_document=5299822472')).total).toBe(0);
  });

  it('give, in any combination, what each of them lets through, once, with the exact total', async () => {
    const pick = (values: readonly string[]) => fc.constantFrom(...values);
    const days = ['2026-02-28', '2026-03-01', '2026-03-03', '2026-03-05', '2026-03-06'];
    const filters: fc.Arbitrary<Filters> = fc.record(
      {
        status: pick(STATUSES),
        name_document: pick([...PEOPLE, 'Zé', 'Maria 100%']),
        phone: pick(['11987654320', '11987654323', '1']),
        initial_date: pick(days),
        final_date: pick(days),
        platform: pick([PLATFORM, OTHER]),
        pix_key: pick(['chave0@exemplo.com.br', 'chave3@exemplo.com.br', 'x@y.z']),
        reference: pick(['Ref', 'ref-5']),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(filters, async (filter) => {
        const read = await readAll(new URLSearchParams(filter).toString());
        expect(read.map(({ id }) => id)).toEqual(all.filter((one) => matches(one, filter)).map(({ id }) => id));
      }),
      propertyOptions(20, 60),
    );
  });
});

function matches(one: Shown, filter: Filters): boolean {
  const day = one.date_created.slice(0, 10);
  const { name_document } = filter;
  return (
    (filter.status === undefined || one.status === filter.status) &&
    (name_document === undefined || one.document === name_document || one.name.includes(name_document)) &&
    (filter.phone === undefined || one.phone === filter.phone) &&
    (filter.initial_date === undefined || day >= filter.initial_date) &&
    (filter.final_date === undefined || day <= filter.final_date) &&
    (filter.platform === undefined || one.platform === filter.platform) &&
    (filter.pix_key === undefined || one.pix_key === filter.pix_key) &&
    (filter.reference === undefined || one.reference === filter.reference)
  );
}

describe('switches of the list', () => {
  const turned = async (list: object, query = ''): Promise<Awaited<ReturnType<typeof readPage>>> => {
    await sandbox.request('PUT', '/sandbox/switches', { list, lives: { created: 'manual' } });
    return readPage(query);
  };

  it('order it oldest first, by change, or randomly, with every transaction on some page', async () => {
    const ids = (rows: Shown[]) => rows.map(({ id }) => id);
    await turned({ order: 'created_asc' });
    expect(ids(await readAll(''))).toEqual(ids(all).reverse());
    await turned({ order: 'updated_desc' });
    const changed = (await readAll('')).map(({ events }) => events[0]?.date_created ?? '');
    expect(changed).toEqual(changed.toSorted().reverse());
    await turned({ order: 'random' });
    expect(ids((await readPage('')).transactions)).not.toEqual(ids((await readPage('')).transactions));
  });

  it('change the bounds of dates', async () => {
    const range = 'initial_date=2026-03-02&final_date=2026-03-04';
    expect((await turned({ dates: 'inclusive' }, range)).total).toBe(438);
    expect((await turned({ dates: 'final_exclusive' }, range)).total).toBe(292);
    expect((await turned({ dates: 'exclusive' }, range)).total).toBe(146);
  });

  it('set wrong totals, another host, and another answer past the end', async () => {
    expect((await turned({ total_off_by: 3 })).total).toBe(733);
    expect((await turned({ total_as: 'string' })).total).toBe('730');
    expect((await turned({ next_host: 'http://evil.example' })).next_page_url).toBe(
      'http://evil.example/v1/transactions?page=2',
    );
    expect((await turned({ next_form: 'relative' })).next_page_url).toBe('/v1/transactions?page=2');
    expect((await turned({ past_end: 'last_page' }, 'page=99')).current_page).toBe(8);
    await turned({ past_end: 'not_found' });
    expect((await sandbox.request('GET', '/api/v1/transactions?page=99')).status).toBe(404);
    await turned({ past_end: 'invalid' });
    expect((await sandbox.request('GET', '/api/v1/transactions?page=99')).status).toBe(422);
  });

  it('serves the address without the api segment, or does not', async () => {
    await turned({});
    expect((await sandbox.request('GET', '/v1/transactions')).status).toBe(200);
    await turned({ without_api: 'not_found' });
    expect((await sandbox.request('GET', '/v1/transactions')).status).toBe(404);
  });

  it('change it between pages', async () => {
    await turned({ drift: 1 });
    const totals: number[] = [];
    for (let i = 0; i < 12; i++) totals.push((await readPage('')).total);
    expect(totals.at(-1)).toBeGreaterThan(730);
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseExactJson } from '../../../src/domain/exact-json.ts';
import { ITEMS_MAX, parseItems, type WebhookItem } from '../../../src/inbox/receive/parse-items.ts';
import { propertyOptions } from '../../support/property.ts';

const ID = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff';
const OTHER = 'a3bb189e-8bf9-4888-9912-ace4e6543002';
const FLAT = {
  id: 30,
  transaction_id: ID,
  transaction_amount: '12.30',
  transaction_e2e_id: 'E1',
  transaction_operation: 'in',
  transaction_reference: 'pedido-1',
  extra: 'loja 7',
  date_created: '2026-11-20 23:30:00',
  status: 'paid',
  path: `/api/v1/transaction/${ID}`,
};
const SPEC = { id: ID, amount: '12.30', operation: 'cashin', reference: 'pedido-1', extra: 'loja 7', status: 'paid' };
const READ: WebhookItem = {
  transactionId: ID,
  reference: 'pedido-1',
  extra: 'loja 7',
  claimedStatus: 'paid',
  claimedAmountCents: 1230n,
};
const NOTHING: WebhookItem = {
  transactionId: null,
  reference: null,
  extra: null,
  claimedStatus: null,
  claimedAmountCents: null,
};
const read = (text: string) => parseItems(parseExactJson(text));

test.each<[string, unknown]>([
  ['flat, as clients of the live service read it', FLAT],
  ['flat, with the names of the interface', SPEC],
  ['wrapped in transaction', { transaction: SPEC }],
  ['a list in transaction, as show answers', { transaction: [SPEC] }],
  ['a list in transactions, as the list answers', { transactions: [SPEC] }],
  ['wrapped in data', { data: FLAT }],
  ['an event around data around transaction', { type: 'paid', data: { transaction: [SPEC] } }],
  ['a list of one', [FLAT]],
  ['a list of PHP with a gap', { transactions: { 3: SPEC } }],
  ['lists of PHP within each other', { data: { 1: { transaction: { 0: SPEC } } } }],
  ['a list of wrapped ones', [{ transaction: SPEC }]],
])('%s is the same item', (_, body) => {
  expect(parseItems(body)).toEqual([READ]);
});

test('several transactions of one body are as many items, in their order', () => {
  const two = [
    { ...SPEC, status: 'pending' },
    { ...SPEC, id: OTHER },
  ];
  const gaps = { 10: two[1], 2: two[0] };
  for (const body of [{ transaction: two }, { transactions: two }, { data: two }, two, { transactions: gaps }, gaps]) {
    expect(parseItems(body).map((item) => [item.transactionId, item.claimedStatus])).toEqual([
      [ID, 'pending'],
      [OTHER, 'paid'],
    ]);
  }
});

describe('a wrapper that names nothing hides nothing', () => {
  test.each<[string, object]>([
    ['an object of other things', { source: 'app' }],
    ['an empty object', {}],
    ['an empty list', []],
    ['a list of other things', [{ source: 'app' }]],
    ['a list of nothing', [[], null]],
    ['wrappers in it that name nothing', { transaction: { x: 1 }, data: [{}] }],
  ])('the keys beside %s are read', (_, value) => {
    for (const name of ['data', 'transaction', 'transactions']) {
      expect(parseItems({ ...FLAT, [name]: value })).toEqual([READ]);
      expect(parseItems({ data: { ...SPEC, [name]: value } })).toEqual([READ]);
    }
  });

  test('what it claims goes with the keys that stand beside it', () => {
    expect(parseItems({ transaction_id: ID, data: { status: 'paid' } })).toEqual([{ ...NOTHING, transactionId: ID }]);
  });

  test('where neither names anything, there is one item', () => {
    expect(parseItems({ id: 30, status: 'paid', data: { source: 'app' } })).toEqual([
      { ...NOTHING, claimedStatus: 'paid' },
    ]);
  });
});

test('all wrappers of one body are read, in their order; what stands around them is no item of its own', () => {
  const other = { ...SPEC, id: OTHER };
  const ids = (body: object) => parseItems(body).map((item) => item.transactionId);
  expect(ids({ transaction: SPEC, transactions: [other] })).toEqual([ID, OTHER]);
  expect(ids({ transactions: [SPEC, {}], data: { transaction: [other] } })).toEqual([ID, null, OTHER]);
  expect(ids({ reference: 'an event', transaction: SPEC, data: { source: 'app' } })).toEqual([ID]);
});

test('a transaction_id beside wrapped ones is read too, once', () => {
  const other = { ...SPEC, id: OTHER };
  const ids = (body: object) => parseItems(body).map((item) => item.transactionId);
  expect(ids({ transaction_id: ID, status: 'paid', data: { reference: 'r' } })).toEqual([ID, null]);
  expect(ids({ transaction_id: ID, transactions: [other] })).toEqual([ID, OTHER]);
  expect(ids({ transaction_id: ID, transactions: [other, SPEC] })).toEqual([OTHER, ID]);
  expect(ids({ id: ID, type: 'event', data: other })).toEqual([OTHER]);
});

describe('the key', () => {
  test('an empty name does not hide the other one', () => {
    expect(parseItems({ ...SPEC, transaction_id: '', transaction_reference: '', transaction_amount: '' })).toEqual([
      READ,
    ]);
    expect(parseItems({ ...SPEC, transaction_reference: null, transaction_amount: {} })).toEqual([READ]);
  });

  test("the integer id of a flat body is the notification's, never the transaction's", () => {
    const { transaction_id: _, path: __, ...rest } = FLAT;
    expect(parseItems(rest)[0]?.transactionId).toBeNull();
    expect(parseItems({ ...rest, id: String(30) })[0]?.transactionId).toBeNull();
  });

  test('an id in capitals is the same id', () => {
    expect(parseItems({ transaction_id: ID.toUpperCase() })[0]?.transactionId).toBe(ID);
  });

  test('without an id the path names it', () => {
    expect(parseItems({ id: 1, path: `/api/v1/transaction/${ID}` })[0]?.transactionId).toBe(ID);
    expect(parseItems({ id: 1, path: `/api/v1/transaction/${ID}?x=1` })[0]?.transactionId).toBe(ID);
  });

  test.each([
    ['a traversal', '../../admin'],
    ['a traversal after an id', `${ID}/../x`],
    ['one character more', `${ID}0`],
    ['a newline after it', `${ID}\n`],
    ['braces', `{${ID}}`],
    ['no hyphens', ID.replaceAll('-', '')],
    ['36 hyphens', '-'.repeat(36)],
    ['nothing', ''],
  ])('an id with %s is no usable key, in no place', (_, id) => {
    const ids = parseItems([{ transaction_id: id }, { id }, { path: `/x/${id}` }]).map((item) => item.transactionId);
    expect(ids).toEqual([null, null, null]);
  });

  test('a path of other characters is none', () => {
    for (const path of [`/transaction/${'-'.repeat(36)}`, '/transaction/../..', `/transaction/${ID}x`, 7, null]) {
      expect(parseItems({ path })[0]?.transactionId).toBeNull();
    }
  });

  test('a reference and an extra are kept byte for byte, and one longer than its column is cut as the ledger cuts it', () => {
    for (const reference of ['A', 'a', 'á', 'a ', ' a', '\u0000', 'a\u0301']) {
      expect(parseItems({ reference, extra: reference })[0]).toMatchObject({ reference, extra: reference });
    }
    expect(parseItems({ reference: 'é'.repeat(257) })[0]?.reference).toBe(`${'é'.repeat(254)}…`);
    expect(parseItems({ extra: 'x'.repeat(2049) })[0]?.extra).toBe(`${'x'.repeat(2045)}…`);
    expect(parseItems({ reference: 4711 })[0]?.reference).toBe('4711');
    expect(parseItems({ reference: { a: 1 }, extra: [] })[0]).toEqual(NOTHING);
  });
});

test('a number keeps its digits as a key and as an amount', () => {
  expect(read('{"reference":12345678901234567891,"extra":-98765432109876543210,"amount":100.50}')[0]).toMatchObject({
    reference: '12345678901234567891',
    extra: '-98765432109876543210',
    claimedAmountCents: 10_050n,
  });
  expect(read('{"amount":10.9999999999999999999}')[0]?.claimedAmountCents).toBeNull();
});

test('an extra that is an object or a list is its canonical JSON', () => {
  const extra = (text: string) => read(`{"extra":${text}}`)[0]?.extra;
  expect(extra('{"order": 1042, "loja": "sp", "a": {"z": 1, "b": []}}')).toBe(
    '{"a":{"b":[],"z":1},"loja":"sp","order":1042}',
  );
  expect(extra('["1042", 12345678901234567891, 1.50]')).toBe('["1042",12345678901234567891,1.50]');
  expect([extra('{}'), extra('[]')]).toEqual([null, null]);
});

test('an amount is claimed only where it is exact', () => {
  const claimed = (amount: unknown) => parseItems({ amount })[0]?.claimedAmountCents;
  expect([claimed('0.10'), claimed(0.1), claimed(10), claimed('10.5')]).toEqual([10n, 10n, 1000n, 1050n]);
  for (const amount of [0.1 + 0.2, '1.001', '-1', '1e3', 1e21, 123_456_789_012_345_680, true, null, {}, [], 'NaN']) {
    expect(claimed(amount)).toBeNull();
  }
});

describe('what names nothing still is an item, so that it can be quarantined', () => {
  test.each([
    ['{}'],
    ['{"transaction":[]}'],
    ['{"transaction":{}}'],
    ['{"transactions":null}'],
    ['{"data":"x"}'],
    ['[[]]'],
    ['[null]'],
    ['["x"]'],
    ['[1]'],
    ['{"data":[[]]}'],
    ['{"transaction":[null]}'],
    ['{"__proto__":{"id":"6f9619ff-8b86-4d01-b42d-00cf4fc964ff"}}'],
    ['{"constructor":{"id":"6f9619ff-8b86-4d01-b42d-00cf4fc964ff"}}'],
  ])('%s', (text) => {
    expect(read(text)).toEqual([NOTHING]);
  });
});

test("inherited names are not the body's", () => {
  const inherited = Object.create({ transaction_id: ID, reference: 'x' }) as object;
  expect(parseItems(inherited)).toEqual([NOTHING]);
});

test('of duplicate keys the last counts, as everywhere in JSON', () => {
  expect(read('{"reference":"a","reference":"b"}')[0]?.reference).toBe('b');
});

test('the good ones of a body are read beside the bad ones', () => {
  const items = read(`[{"transaction_id":"${ID}"},null,{"id":1},{"transaction":[{"reference":"r"}]}]`);
  expect(items.filter((item) => item.transactionId ?? item.reference)).toHaveLength(2);
  expect(items).toHaveLength(4);
});

test('a body of more items than are taken stops soon after the limit', () => {
  expect(parseItems(Array.from({ length: 100_000 }, () => ({ reference: 'r' })))).toHaveLength(ITEMS_MAX + 1);
});

test('any JSON gives at least one item, each key of a form that may reach an address', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (body) => {
      fc.pre(typeof body === 'object' && body !== null && !(Array.isArray(body) && body.length === 0));
      const items = parseItems(body);
      expect(items.length).toBeGreaterThan(0);
      for (const item of items) expect(item.transactionId ?? ID).toMatch(/^[0-9a-f-]{36}$/);
    }),
    propertyOptions(60, 500),
  );
});

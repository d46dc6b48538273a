import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseExactJson } from '../../../src/domain/exact-json.ts';
import { type ParsedRow, parseBySchema, parseTransaction } from '../../../src/provider/parse-transaction.ts';
import { propertyOptions } from '../../support/property.ts';

const ROW = {
  id: '6f9619ff-8b86-4d01-b42d-00cf4fc964ff',
  operation: 'cashin',
  status: 'paid',
  amount: '100.00',
  commission: '1.50',
  date_created: '2026-11-20 09:00:00',
  finished: '',
  name: 'Maria Segredo',
  email: 'maria@segredo.example',
  phone: '+5511987654321',
  document: '12345678909',
  description: 'compra de Maria',
  platform: 'a3bb189e-8bf9-4888-9912-ace4e6543002',
  reference: 'pedido-1',
  extra: 'loja 7',
  e2e_id: '',
  events: [
    { date_created: '2026-11-20 09:01:00', status: 'paid' },
    { date_created: '2026-11-20 09:00:00', status: 'pending' },
  ],
};
const PERSONAL = ['Maria', 'segredo', '987654321', '12345678909', 'compra', 'loja 7'];
const read = (more: object = {}) => parseTransaction({ ...ROW, ...more });

function taken(row: ParsedRow) {
  if (!row.ok) throw new Error(row.reason);
  return row.transaction;
}

function unknown(row: ParsedRow) {
  const { fields = {}, raw = '' } = row.ok ? (row.unreadable ?? {}) : {};
  return { transaction: taken(row), fields: Object.keys(fields), raw, rules: Object.values(fields).join() };
}

function refused(row: ParsedRow) {
  if (row.ok) throw new Error('it was taken');
  return row;
}

test('the sample of the interface is read, its history turned to the oldest first', () => {
  expect(taken(read())).toMatchObject({
    amountCents: 10_000n,
    commissionCents: 150n,
    e2eId: null,
    pixKey: null,
    eventsInferred: false,
    events: [
      { status: 'pending', atWall: '2026-11-20 09:00:00' },
      { status: 'paid', atWall: '2026-11-20 09:01:00' },
    ],
  });
});

test('a history that rises is taken as it stands; of one second, the newest stands first', () => {
  expect(taken(read({ events: ROW.events.toReversed() })).events).toEqual(taken(read()).events);
  const second = ['paid', 'in_process', 'pending'].map((status) => ({ status, date_created: ROW.date_created }));
  expect(taken(read({ events: second })).events.map((event) => event.status)).toEqual([
    'pending',
    'in_process',
    'paid',
  ]);
});

const OPTIONAL = ['commission', 'name', 'email', 'phone', 'document', 'description', 'platform', 'reference'] as const;
test.each([...OPTIONAL, 'extra', 'e2e_id', 'pix_key', 'events'])('%s may be absent, null or empty alike', (field) => {
  const absent: Record<string, unknown> = { ...ROW };
  delete absent[field];
  const rows = [parseTransaction(absent), read({ [field]: null }), read({ [field]: field === 'events' ? [] : '' })];
  for (const row of rows) expect(row).toEqual(rows[0]);
  expect(rows[0]?.ok).toBe(true);
});

test.each(['id', 'operation', 'amount', 'date_created'])('without %s a row is refused', (field) => {
  for (const value of [undefined, null, '', [], {}]) {
    const row = refused(read({ [field]: value }));
    expect(row.reason).toContain(field);
    expect(row.id).toBe(field === 'id' ? null : ROW.id);
  }
});

test('without a history the status stands for it, at the creation, and says that it was inferred', () => {
  for (const events of [undefined, null, []]) {
    expect(taken(read({ events }))).toMatchObject({
      events: [{ status: 'paid', atWall: ROW.date_created }],
      eventsInferred: true,
    });
  }
});

describe('amounts', () => {
  test.each([
    ['100', 10_000n],
    ['100.5', 10_050n],
    ['0.01', 1n],
    [100, 10_000n],
    [0.1, 10n],
    [19.99, 1999n],
    ['10000000000000.00', 1_000_000_000_000_000n],
  ])('%j is %s cents', (amount, cents) => {
    expect(taken(read({ amount, commission: amount }))).toMatchObject({ amountCents: cents, commissionCents: cents });
  });

  test.each(['1.001', '-1', '+1', '1e2', ' 1', 'NaN', 'R$ 1', '1,00', 1e21, 0.1 + 0.2, -1, true, {}, [1]])(
    '%j is refused as an amount, and unknown as a commission',
    (amount) => {
      expect(refused(read({ amount })).reason).toContain('amount');
      expect(unknown(read({ commission: amount }))).toMatchObject({
        transaction: { commissionCents: null, amountCents: 10_000n },
        fields: ['commission'],
      });
    },
  );

  test.each([
    ['0.9900', 99n],
    ['1.500', 150n],
    ['1.00000', 100n],
    ['0.9950', null],
    ['-0.50', null],
    ['00.990', null],
  ])('the trailing zeros of commission %j are read: %s cents', (commission, cents) => {
    expect(taken(read({ commission })).commissionCents).toBe(cents);
    expect(read({ amount: commission }).ok).toBe(false);
  });
});

test.each([
  ['a day alone', '2026-11-20'],
  ['ISO 8601', '2026-11-20T09:00:00Z'],
  ['no such day', '2026-02-30 09:00:00'],
  ['the 24th hour', '2026-11-20 24:00:00'],
  ['nothing', ''],
  ['zeros', '0000-00-00 00:00:00'],
  ['a number', 1_763_640_000],
])('%s is no date, in a row or in its history', (_, date) => {
  expect(refused(read({ date_created: date })).reason).toContain('date_created');
  expect(unknown(read({ events: [{ status: 'paid', date_created: date }] })).fields).toEqual(['events']);
});

test('a status that is not known is kept as it is', () => {
  const row = taken(read({ status: 'partially_paid', events: [{ ...ROW.events[0], status: 'partially_paid' }] }));
  expect(row).toMatchObject({ status: 'partially_paid', events: [{ status: 'partially_paid' }] });
});

test('an operation that is not known is refused: which way money went can not be guessed', () => {
  for (const operation of ['CASHIN', 'in', 'transfer'])
    expect(refused(read({ operation })).reason).toContain('operation');
});

test('a number or a boolean in a text field is read as its text', () => {
  expect(taken(read({ reference: 4711, extra: true, document: 12_345_678_909 }))).toMatchObject({
    reference: '4711',
    extra: 'true',
    document: '12345678909',
  });
});

test('a number beyond 2^53 keeps its digits as id, reference and extra, and in the raw row', () => {
  const text = JSON.stringify({ ...ROW, id: '@', reference: '@', extra: '@', name: ['@'] });
  const row = unknown(parseTransaction(parseExactJson(text.replaceAll('"@"', '12345678901234567891'))));
  const digits = '12345678901234567891';
  expect(row.transaction).toMatchObject({ id: digits, reference: digits, extra: digits });
  expect(row.raw).toContain(`"name":[${digits}]`);
});

test('an extra that is an object or a list is its canonical JSON, and marked as no text', () => {
  for (const extra of [
    { order: 1042, loja: 'sp' },
    { loja: 'sp', order: 1042 },
  ]) {
    expect(read({ extra })).toMatchObject({ isExtraJson: true, transaction: { extra: '{"loja":"sp","order":1042}' } });
    expect(read({ extra })).not.toHaveProperty('unreadable');
  }
  expect(taken(read({ extra: ['1042'] })).extra).toBe('["1042"]');
  expect(taken(read({ extra: ['x'.repeat(3000)] })).extra).toMatch(/^\["x+…$/);
  for (const extra of [{}, []]) expect(read({ extra })).toEqual(read({ extra: null }));
  const deep: unknown = JSON.parse('['.repeat(50_000) + ']'.repeat(50_000));
  expect(unknown(read({ extra: deep })).fields).toEqual(['extra']);
});

test('a history that PHP wrote as an object is read in the order of its names', () => {
  const [newest, oldest] = ROW.events;
  expect(taken(read({ events: { 5: oldest, 0: newest } }))).toEqual(taken(read()));
});

test('identifiers are kept byte for byte', () => {
  for (const text of ['A', 'a', 'á', 'a\u0301', 'a ', ' a', '\u0000a']) {
    expect(taken(read({ reference: text, extra: text, platform: text }))).toMatchObject({
      reference: text,
      extra: text,
      platform: text,
    });
  }
});

test.each([
  ['status', 'status', 's'.repeat(65), `${'s'.repeat(61)}…`],
  ['reference', 'reference', 'é'.repeat(257), `${'é'.repeat(254)}…`],
  ['extra', 'extra', '€'.repeat(683), `${'€'.repeat(681)}…`],
  ['platform', 'platform', 'p'.repeat(65), `${'p'.repeat(61)}…`],
  ['e2e_id', 'e2eId', 'E'.repeat(500), `${'E'.repeat(125)}…`],
  ['name', 'name', '😀'.repeat(1250), `${'😀'.repeat(255)}…`],
  ['description', 'description', 'x'.repeat(60_000), `${'x'.repeat(4093)}…`],
])('a %s longer than its column is cut at a character and marked', (field, name, value, kept) => {
  const row = read({ [field]: value });
  expect(taken(row)).toMatchObject({ [name]: kept });
  expect(row).not.toHaveProperty('unreadable');
  expect(taken(read({ [field]: kept }))).toMatchObject({ [name]: kept });
});

test('an id longer than its column refuses the row, and a history of more than 1000 events is unknown', () => {
  expect(refused(read({ id: 'x'.repeat(65) })).reason).toContain('id');
  expect(refused(read({ id: 'é'.repeat(33) })).reason).toContain('id');
  expect(unknown(read({ events: new Array(1001).fill(ROW.events[0]) })).fields).toEqual(['events']);
});

test('a lone surrogate is read as the database gives it back, and refuses a row only in its id', () => {
  expect(taken(read({ name: 'Ma\ud83dria', reference: '\ude00' }))).toMatchObject({
    name: 'Ma\ufffdria',
    reference: '\ufffd',
  });
  expect(refused(read({ id: 'a\ud83d' })).reason).toContain('id');
});

test('a side field that can not be read is null, named with its rule, and kept in the raw row', () => {
  const bad = { commission: '0.9950', name: ['Maria'], e2e_id: {}, status: null, description: [] };
  const { transaction, fields, raw, rules } = unknown(read(bad));
  expect(transaction).toMatchObject({ commissionCents: null, name: null, e2eId: null, description: null });
  expect(transaction).toMatchObject({ amountCents: 10_000n, status: 'paid', reference: 'pedido-1' });
  expect(fields.sort()).toEqual(Object.keys(bad).sort());
  expect(JSON.parse(raw)).toMatchObject(bad);
  for (const value of PERSONAL) expect(rules).not.toContain(value);
});

test('a row with neither a status nor a history that can be read is taken, with a status that moves nothing', () => {
  const { transaction, fields } = unknown(read({ status: [], events: 'none' }));
  expect(transaction).toMatchObject({ status: 'unreadable', eventsInferred: true });
  expect(fields).toEqual(['status', 'events']);
});

test('the raw row of a value nested thousands deep is left out, the rest is read', () => {
  const name: unknown = JSON.parse('['.repeat(50_000) + ']'.repeat(50_000));
  expect(unknown(read({ name })).raw).toBe('nested too deeply to be kept');
});

test('the reason of a refusal names fields and rules, never values', () => {
  const bad = {
    amount: 'Maria Segredo',
    date_created: 'maria@segredo.example',
    operation: 'compra de Maria',
  };
  const row = refused(read(bad));
  for (const value of PERSONAL) expect(row.reason).not.toContain(value);
  for (const field of Object.keys(bad)) expect(row.reason).toContain(field);
  expect(JSON.parse(row.raw)).toMatchObject(bad);
});

test('a value that is no object is refused and kept, with the id where there is one', () => {
  for (const row of [null, 1, 'x', [], undefined, true]) expect(refused(parseTransaction(row)).id).toBeNull();
  expect(refused(parseTransaction({ id: 'x' }))).toMatchObject({ id: 'x', raw: '{"id":"x"}' });
});

test('the digest changes with everything that is shown, the history too, and with nothing else', () => {
  const digest = (more: object) => {
    const row = read(more);
    return row.ok ? row.digest.toString('hex') : '';
  };
  const changes = [{ name: 'Ana' }, { commission: '1.51' }, { commission: null }, { e2e_id: 'E1' }, { reference: 'p' }];
  const histories = [{ events: ROW.events.slice(1) }, { events: [...ROW.events, ROW.events[1]] }, { events: null }];
  const digests = [{}, ...changes, ...histories].map(digest);
  expect(new Set(digests).size).toBe(digests.length);
  expect(digest({ name: [] })).not.toBe(digest({ name: null }));
  expect(digest({ name: [] })).not.toBe(digest({ name: null, email: null, phone: [] }));
  expect(digest({ name: ['now'] })).toBe(digest({ name: ['a minute ago'] }));
  expect(digest({ finished: 'now', unknown: 1 })).toBe(digest({}));
});

test('any JSON is either parsed or refused, without an exception, and only four fields can refuse a row', () => {
  const field = fc.constantFrom(...Object.keys(ROW), 'pix_key');
  fc.assert(
    fc.property(fc.dictionary(field, fc.jsonValue()), (changes) => {
      const row = read(changes);
      const refuses = ['id', 'operation', 'amount', 'date_created'].some((name) => Object.hasOwn(changes, name));
      if (!refuses) expect(row.ok).toBe(true);
    }),
    propertyOptions(100, 300),
  );
});

test('the fast parser of plain rows returns what the schema returns, for any row', () => {
  const odd = fc.constantFrom<unknown>(
    ...[
      '',
      ' ',
      'x',
      'é'.repeat(40),
      'x'.repeat(65),
      'x'.repeat(5000),
      '1.00',
      '-1.00',
      '1.005',
      '01',
      '2026-02-30 10:00:00',
    ],
    ...[
      0,
      1.5,
      1e21,
      null,
      undefined,
      true,
      [],
      {},
      '2026-11-20 24:00:00',
      '2026-11-20 09:00:00',
      'cashout',
      'pending',
    ],
  );
  const event = fc.record({
    date_created: fc.oneof(fc.constant('2026-11-20 09:00:00'), odd),
    status: fc.oneof(fc.constant('paid'), odd),
  });
  const events = fc.oneof(
    { weight: 3, arbitrary: fc.constant(ROW.events) },
    { weight: 2, arbitrary: fc.array(event, { maxLength: 3 }) },
    odd,
  );
  const changes = fc.dictionary(fc.constantFrom(...Object.keys(ROW), 'pix_key'), odd, { maxKeys: 2 });
  fc.assert(
    fc.property(changes, events, (change, history) => {
      const row = { ...ROW, events: history, ...change };
      expect(parseTransaction(row)).toEqual(parseBySchema(row));
    }),
    propertyOptions(300, 2000),
  );
  expect(parseTransaction(null)).toEqual(parseBySchema(null));
});

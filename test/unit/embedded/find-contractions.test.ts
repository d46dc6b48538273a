import { expect, it } from 'vitest';
import { type Column, findContractions, type Schema } from '../../support/find-contractions.ts';

const column = (name: string, more: Partial<Column> = {}): Column => ({
  name,
  type: 'varchar(64)',
  charset: 'utf8mb4',
  nullable: false,
  initial: null,
  extra: '',
  ...more,
});
const schema = (columns: Column[], more: Partial<Schema> = {}): Schema => ({
  columns,
  uniques: new Map(),
  triggers: [],
  ...more,
});
const before = schema([column('a.id', { type: 'int' }), column('a.name'), column('a.note', { nullable: true })]);
const kept = before.columns;
const others = (name: string): Column[] => kept.filter((one) => one.name !== name);

it.each<[string, Schema, string]>([
  ['a dropped column', schema(others('a.note')), 'a.note is gone'],
  ['a renamed column', schema([...others('a.note'), column('a.notes', { nullable: true })]), 'a.note is gone'],
  ['a dropped table', schema([column('b.id')]), 'a.id is gone'],
  [
    'a shorter column',
    schema([...others('a.name'), column('a.name', { type: 'varchar(63)' })]),
    'a.name was varchar(64), is varchar(63)',
  ],
  ['another type', schema([...others('a.id'), column('a.id', { type: 'tinyint' })]), 'a.id was int, is tinyint'],
  ['a column without NULL', schema([...others('a.note'), column('a.note')]), 'a.note does not take NULL any more'],
  ['a column that must be filled', schema([...kept, column('a.more')]), 'a.more is new and has no default'],
  [
    'a unique index over old columns',
    schema(kept, { uniques: new Map([['a.names', ['a.name']]]) }),
    'a.names is a new unique index',
  ],
  ['a trigger on an old table', schema(kept, { triggers: ['a.check'] }), 'a.check is a new trigger'],
])('%s keeps the earlier version from working', (_, after, says) => {
  expect(findContractions(before, after).some((one) => one.startsWith(says))).toBe(true);
});

it('new tables, nullable or filled columns, wider types and indexes do not', () => {
  const after = schema(
    [
      column('a.id', { type: 'bigint' }),
      column('a.name', { type: 'varchar(128)', nullable: true }),
      column('a.note', { nullable: true }),
      column('a.maybe', { nullable: true }),
      column('a.zero', { initial: '0' }),
      column('b.id'),
    ],
    {
      uniques: new Map([
        ['a.maybe_once', ['a.maybe']],
        ['b.PRIMARY', ['b.id']],
      ]),
      triggers: ['b.check'],
    },
  );
  expect(findContractions(before, after)).toEqual([]);
});

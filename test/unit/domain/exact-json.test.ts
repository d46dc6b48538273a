import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseExactJson, readCanonicalJson, readList, readScalar } from '../../../src/domain/exact-json.ts';
import { propertyOptions } from '../../support/property.ts';

const NUMBER = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(fc.bigInt({ min: 0n, max: 10n ** 30n }).map(String), fc.constant('0')),
    fc.oneof(
      fc.constant(''),
      fc.nat().map((digits) => `.${digits}`),
    ),
    fc.constantFrom('', 'e5', 'E-3', 'e+400'),
  )
  .map((parts) => parts.join(''));
const BLANKS = fc.constantFrom('', ' ', '\n\t  ');

test('any number is read with its digits, in an object and in a list', () => {
  fc.assert(
    fc.property(NUMBER, BLANKS, (number, blanks) => {
      const list = parseExactJson(`{"a":${blanks}[${blanks}${number},${blanks}${number}${blanks}]}`) as {
        a: unknown[];
      };
      expect(list.a.map(readScalar)).toEqual([number, number]);
    }),
    propertyOptions(100, 2_000),
  );
});

test('JSON without such numbers is read as JSON.parse reads it', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 3 }), (text) => {
      const written = JSON.stringify(parseExactJson(text));
      expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(JSON.parse(text))));
    }),
    propertyOptions(100, 2_000),
  );
});

/** What a reviver of JSON.parse makes of a text; slower. */
function parseByReviver(text: string, isKept?: (name: string, value: unknown) => boolean): unknown {
  const { rawJSON } = JSON as unknown as { rawJSON: (source: string) => unknown };
  return JSON.parse(text, (name, value: unknown, context?: { source?: string }) => {
    if (isKept?.(name, value) === false) return undefined;
    const source = typeof value === 'number' ? context?.source : undefined;
    return source === undefined || source === String(value) ? value : rawJSON(source);
  });
}

const readOrName = (parse: () => unknown): string => {
  try {
    return JSON.stringify(parse());
  } catch (error) {
    return (error as Error).name;
  }
};

test('a text with numbers of any kind is read, or refused, as a reviver of JSON.parse does', () => {
  const piece = fc.oneof(
    NUMBER,
    fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      '\\"',
      ' ',
      'true',
      '"a"',
      '"__proto__":',
      '-',
      '.5',
      '1.',
      '01',
    ),
    fc.string().map((text) => JSON.stringify(text)),
  );
  const value = fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      NUMBER,
      fc.string().map((text) => JSON.stringify(text)),
      fc.array(tie('value'), { maxLength: 4 }).map((list) => `[${list.join(',')}]`),
      fc
        .array(fc.tuple(fc.constantFrom('a', '1', '__proto__', 'extra', 'b\\"'), tie('value')), { maxLength: 4 })
        .map((pairs) => `{${pairs.map(([name, one]) => `${JSON.stringify(name)}: ${one}`).join(' ,')}}`),
    ),
  })).value;
  const isKept = (name: string, one: unknown): boolean => name !== 'extra' && one !== 'a' && name !== '2';
  fc.assert(
    fc.property(
      fc.oneof(
        value,
        fc.array(piece, { maxLength: 12 }).map((all) => all.join('')),
      ),
      (text) => {
        // a number alone is no body of ours
        const body = `{"a":${text}}`;
        for (const kept of [undefined, isKept])
          expect(readOrName(() => parseExactJson(body, kept))).toBe(readOrName(() => parseByReviver(body, kept)));
      },
    ),
    propertyOptions(300, 5_000),
  );
});

test('equal values have one canonical JSON, others have another, and it is JSON of the same value', () => {
  const shuffle = (value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(
          Object.entries(value)
            .reverse()
            .map(([name, one]) => [name, shuffle(one)]),
        )
      : value;
  const names = fc.dictionary(
    fc.string().filter((name) => name !== '__proto__'),
    fc.jsonValue({ maxDepth: 3 }),
  );
  fc.assert(
    fc.property(names, (value) => {
      fc.pre(Object.keys(value).length > 0);
      const text = readCanonicalJson(value) ?? '';
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(readCanonicalJson(shuffle(value))).toBe(text);
      expect(readCanonicalJson({ ...value, [`${Object.keys(value)[0]}+`]: 1 })).not.toBe(text);
    }),
    propertyOptions(60, 500),
  );
});

test('only a list, or an object of nothing but integer names, is a list', () => {
  expect(readList({ 10: 'c', 2: 'b', 0: 'a' })).toEqual(['a', 'b', 'c']);
  for (const value of [{}, { 0: 'a', total: 1 }, { '01': 'a' }, { '-1': 'a' }, { '1.5': 'a' }, 'ab', null, 7])
    expect(readList(value)).toBeUndefined();
  expect(readList(parseExactJson('[1.50]'))).toHaveLength(1);
  expect(readList((parseExactJson('[1.50]') as unknown[])[0])).toBeUndefined();
});

test('a quarter of a megabyte of any kind is read in a few steps', () => {
  const texts = [
    `"${' '.repeat(250_000)}"`,
    `"${':         -123456789012345'.repeat(10_000)}"`,
    `"${',['.repeat(120_000)}"`,
  ];
  for (const text of texts) expect(parseExactJson(text)).toBe(text.slice(1, -1));
});

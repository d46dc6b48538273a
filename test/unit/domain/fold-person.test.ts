import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { COMBINING_MARKS_MAX, foldName, limitCombiningMarks } from '../../../src/domain/person/fold-person.ts';
import { createRedact, createValueMatcher, listCandidates, REMOVED } from '../../../src/domain/person/redact-text.ts';
import { anyCharacter, propertyOptions } from '../../support/property.ts';

const DOCUMENT = '12345678909';
const person = { documents: [DOCUMENT], ids: [], own: ['ana@exemplo.com'], shared: ['Ana Conceição'] };
const redact = createRedact(person);
/** Each takes its place before the other, whose order is what costs; the second pair's are no marks until normalized. */
const RUNS = ['\u0315\u0300', '\u0300\uff9e'].map((two) => `a${two.repeat(1000)}`);
const LONG_RUN = new RegExp(`[\\p{M}\\uff9e\\uff9f]{${COMBINING_MARKS_MAX + 1}}`, 'u');

afterEach(() => {
  vi.restoreAllMocks();
});

describe.each(RUNS)('a letter under 2,000 marks', (run) => {
  it.each([
    ['its candidates are listed', () => listCandidates(`{"extra":"${run}"}`)],
    ['it is redacted, in an address', () => redact(`{"u":"https://x/?a=${encodeURIComponent(run)}"}`)],
    ['it is redacted', () => redact(`{"extra":"${run}","document":"${DOCUMENT}"}`)],
    ['it is redacted, no JSON', () => redact(`${run} ${DOCUMENT}`)],
    ['it is searched in', () => createValueMatcher(person)(run)],
    ['it is folded', () => foldName(run)],
  ])('is normalized with no more than a letter may have: %s', (_, work) => {
    const normalize = vi.spyOn(String.prototype, 'normalize');
    work();
    const normalized = normalize.mock.contexts.map(String);
    expect(normalized).not.toEqual([]);
    expect(normalized.filter((text) => LONG_RUN.test(text))).toEqual([]);
  });

  it('hides no document, and goes with none that is taken out', () => {
    for (const spelled of [DOCUMENT, '123.456.789-09', '１２３４５６７８９０９']) {
      expect(listCandidates(`{"extra":"${run}${spelled}"}`).documents).toContain(DOCUMENT);
      expect(redact(`{"extra":"${run}${spelled}","x":"${run}"}`)).toBe(`{"extra":"${REMOVED}","x":"${run}"}`);
    }
    expect(redact(`${run} ${DOCUMENT} ${run}`)).toBe(`${run} ${REMOVED} ${run}`);
    expect(redact(`{"extra":"${run}","name":"Ana Conceic${run.slice(1)}a\u0303o","d":"${DOCUMENT}"}`)).toBe(
      `{"extra":"${run}","name":"${REMOVED}","d":"${REMOVED}"}`,
    );
  });
});

it('does not change real names', () => {
  for (const name of [
    'Ana Conceição',
    'Nguye\u0302\u0303n',
    'สมชาย',
    'ｶﾞｷﾞ',
    `a${'\u0300'.repeat(COMBINING_MARKS_MAX)}`,
  ]) {
    expect(limitCombiningMarks(name)).toBe(name);
  }
  expect(limitCombiningMarks(`a${'\u0300'.repeat(COMBINING_MARKS_MAX + 1)}b`)).toBe(
    `a${'\u0300'.repeat(COMBINING_MARKS_MAX)}b`,
  );
});

it('folds any name to what it is without the marks, however many there are', () => {
  const marks = fc.string({ unit: fc.constantFrom('\u0315', '\u0300', '\uff9e', '\u20dd', '\u0344'), maxLength: 100 });
  const name = fc.array(fc.tuple(fc.string({ unit: anyCharacter }), marks)).map((parts) => parts.flat().join(''));
  fc.assert(
    fc.property(name, (text) => {
      const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/\s+/g, ' ').trim();
      expect(foldName(text)).toBe(plain);
    }),
    propertyOptions(30, 300),
  );
});

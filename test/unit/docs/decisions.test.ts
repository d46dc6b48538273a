import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const folder = path.resolve(import.meta.dirname, '../../../docs/decisions');
const WORDS_MAX = 150;
const PARTS = ['Context', 'Decision', 'Alternatives', 'Consequence'];
const NAME = /^(\d{4})-[a-z0-9-]+\.md$/;
const DATE = /^Date: \d{4}-\d{2}-\d{2}(, revised \d{4}-\d{2}-\d{2})?$/m;

const read = (name: string): string => readFileSync(path.join(folder, name), 'utf8');
const names = readdirSync(folder).filter((name) => name !== 'README.md');
const indexLines = read('README.md')
  .split('\n')
  .filter((line) => line.startsWith('- '));

/** The parts of a decision that hold text, in their order. */
function listParts(text: string): string[] {
  const [, ...sections] = text.split(/^## /m);
  return sections.flatMap((section) => {
    const [title = '', ...body] = section.split('\n');
    return body.join('').trim() === '' ? [] : [title];
  });
}

describe('the decisions', () => {
  it('are files named by number and title', () => {
    expect(names.length).toBeGreaterThan(30);
    expect(names.filter((name) => !NAME.test(name))).toEqual([]);
  });

  it.each(names)('%s has a title, a date and its four sections in at most 150 words', (name) => {
    const text = read(name);
    expect(text).toMatch(new RegExp(`^# ${Number(name.slice(0, 4))}\\. \\S`));
    expect(text).toMatch(DATE);
    expect(listParts(text)).toEqual(PARTS);
    expect(text.trim().split(/\s+/).length).toBeLessThanOrEqual(WORDS_MAX);
  });

  it('are in the index once, with their titles', () => {
    const expected = names.map((name) => `- [${name.slice(0, 4)}](${name}) ${read(name).match(/^# \d+\. (.+)/)?.[1]}`);
    expect(indexLines.filter((line) => line.startsWith('- ['))).toHaveLength(names.length);
    expect(expected.filter((line) => !indexLines.includes(line))).toEqual([]);
  });

  it('keep every number in the index, with a link for a decision that moved beside its code', () => {
    const numbers = indexLines.map((line) => Number(line.match(/\d{4}/)?.[0]));
    expect(numbers.toSorted((a, b) => a - b)).toEqual(numbers.map((_, index) => index + 1));
    const moved = indexLines.filter((line) => !line.startsWith('- ['));
    expect(moved.filter((line) => !/^- \d{4} .+: now a comment in \[.+\]\(.+\)$/.test(line))).toEqual([]);
  });
});

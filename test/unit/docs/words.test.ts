/** How much the documents ask people to read: all pages, one page, one cell of a table. A page has one task. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../../..');
const WORDS_MAX = 40_000;
const PAGE_WORDS_MAX = 1_500;
const CELL_WORDS_MAX = 25;

/** Decisions, changelog, translations, runbooks (an alert each), the page that is made from the schema, the history of figures, and READMEs beside the code of `src`. */
const APART =
  /^(?:docs\/(?:decisions\/|benchmarks-history\.|runbooks\.|configuration\.)|CHANGELOG|src\/|test\/fixtures\/)|\.pt-BR\.md$/;

const pages = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && !APART.test(file))
  .map((file) => {
    const text = readFileSync(path.join(root, file), 'utf8')
      .replace(/^```[\s\S]*?^```$/gm, '')
      .replace(/^<!-- [\w ]+: written by [\s\S]*?^<!-- end of [\w ]+ -->$/gm, '');
    const cells = text
      .split('\n')
      .flatMap((line) => (line.startsWith('|') ? line.split(/(?<!\\)\|/).slice(1, -1) : []));
    return { file, words: countWords(text), cells };
  });

/** Words outside of code blocks and of what a program writes: what stands between blanks and has a letter or a digit. */
function countWords(text: string): number {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

test('all pages together are at most as long as somebody reads', () => {
  expect(pages.length).toBeGreaterThan(40);
  expect(pages.reduce((sum, { words }) => sum + words, 0)).toBeLessThanOrEqual(WORDS_MAX);
});

test('no page is longer than a task needs', () => {
  expect(pages.filter(({ words }) => words > PAGE_WORDS_MAX).map(({ file, words }) => `${file}: ${words}`)).toEqual([]);
});

test('a cell of a table holds a fact, not a paragraph', () => {
  const long = pages.flatMap(({ file, cells }) =>
    cells.filter((cell) => countWords(cell) > CELL_WORDS_MAX).map((cell) => `${file}: ${cell.trim()}`),
  );
  expect(long).toEqual([]);
});

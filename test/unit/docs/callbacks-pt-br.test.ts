import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const read = (name: string): string =>
  readFileSync(path.resolve(import.meta.dirname, '../../../docs', name), 'utf8').replace(/\r/g, '');
const PAGES = ['callbacks', 'callback-types', 'provider-format', 'fetch-events', 'day-manifests', 'portal'];

/** Blocks of code; what follows code on its line, as a comment of the shell, is translated. */
const codeOf = (text: string): string[] =>
  (text.match(/^```[\s\S]*?^```$/gm) ?? []).map((code) => code.replace(/(?<=\S) +# .*$/gm, ''));
/** The marks that begin the lines outside of code: headings, items, rows of tables. */
const outlineOf = (text: string): string[] =>
  text.replace(/^```[\s\S]*?^```$/gm, '```').match(/^(?:#+|-|\||```)/gm) ?? [];
/** The first cell of each row where it is code: fields, routes and classes of errors have no translation. */
const namesOf = (text: string): string[] => [...text.matchAll(/^\| (`[^`]+`)/gm)].map(([, name = '']) => name);

test('the pages have code to compare', () => {
  const blocks = PAGES.flatMap((page) => codeOf(read(`${page}.md`)));
  expect(blocks.length).toBeGreaterThan(PAGES.length);
});

test.each(PAGES)('%s.pt-BR.md has the code, the tables and the sections of the English page', (page) => {
  const [english, portuguese] = [read(`${page}.md`), read(`${page}.pt-BR.md`)];
  expect(codeOf(portuguese)).toEqual(codeOf(english));
  expect(outlineOf(portuguese)).toEqual(outlineOf(english));
  expect(namesOf(portuguese)).toEqual(namesOf(english));
});

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { EN } from '../../../src/http/console/languages/en/catalogue.ts';
import { runInLanguage } from '../../../src/http/console/languages/language.ts';
import { plural, t, words } from '../../../src/http/console/languages/translate.ts';
import { html, tHtml } from '../../../src/http/console/parts/html.ts';

const CONSOLE = path.resolve(import.meta.dirname, '../../../src/http/console');
const CATALOGUE = path.join('languages', 'en');
const entries = Object.entries(EN);
const read = (folder: string) =>
  readdirSync(path.join(CONSOLE, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => ({ name: path.join(folder, name), text: readFileSync(path.join(CONSOLE, folder, name), 'utf8') }));
const isCatalogue = (name: string): boolean => name.startsWith(CATALOGUE);

test('every text of the catalogue is used', () => {
  const code = read('.')
    .filter(({ name }) => !isCatalogue(name))
    .map(({ text }) => text)
    .join('\n');
  expect(entries.length).toBeGreaterThan(100);
  expect(
    Object.keys(EN).filter((text) => ["'", '"'].every((quote) => !code.includes(`${quote}${text}${quote}`))),
  ).toEqual([]);
});

test('a text stands in one file of the catalogue alone', () => {
  const files = read(CATALOGUE).filter(({ name }) => !name.endsWith('catalogue.ts'));
  const count = files.flatMap(({ text }) => [...text.matchAll(/^ {2}(?:'[^']+'|"[^"]+"|[\p{L}\d_$]+):/gmu)]).length;
  expect(count).toBe(entries.length);
});

test('both languages of a text have the same values and the same markup', () => {
  const parts = (text: string) => [...new Set(text.match(/\{\w+\}|<[^>]+>/g))].sort();
  expect(entries.filter(([source, english]) => parts(source).join() !== parts(english).join())).toEqual([]);
});

test('a text is filled with its values in the language of the request', () => {
  const render = () => [
    t('No máximo {max}.', { max: '1' }),
    plural(1, 'uma só', '{n} a mais'),
    plural(1234, 'uma só', '{n} a mais'),
    words({ running: 'Em curso' }).running,
  ];
  expect(render()).toEqual(['No máximo 1.', 'uma só', '1.234 a mais', 'Em curso']);
  const english = ['At most 1.', 'only one', '1,234 more', 'Running'];
  expect(runInLanguage('en', render)).toEqual(english);
});

test('a value in a text with markup is escaped, unless it is markup', () => {
  const values = { max: '<i>' };
  expect(tHtml('No máximo {max}.', values).text).toBe('No máximo &lt;i&gt;.');
  expect(tHtml('No máximo {max}.', { max: html`<b>${'&'}</b>` }).text).toBe('No máximo <b>&amp;</b>.');
});

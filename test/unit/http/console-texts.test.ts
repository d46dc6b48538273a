import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { html, tHtml } from '../../../src/http/console/parts/html.ts';
import { EN } from '../../../src/texts/console/catalogue.ts';
import { runInLanguage } from '../../../src/texts/language.ts';
import { plural, t, words } from '../../../src/texts/translate.ts';

const SRC = path.resolve(import.meta.dirname, '../../../src');
const CATALOGUE = 'texts/console';
const entries = Object.entries(EN);
const read = (folder: string) =>
  readdirSync(path.join(SRC, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => ({ name: path.join(folder, name), text: readFileSync(path.join(SRC, folder, name), 'utf8') }));

test('every text of the catalogue is used', () => {
  const code = [
    ...read('http/console'),
    ...read('operations'),
    ...read('texts').filter(({ name }) => !name.startsWith(CATALOGUE)),
  ]
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

/** What templates may say themselves: names and units that both languages write alike, and our own name. */
const COMMON = /^(?:[\s·,:;()/%–…\d]|HTTP|Confere|webhook|https:|ms|s|r)*$/;
/** Diacritics, and frequent words, of Portuguese. */
const PORTUGUESE = /[ãõçáéíóúâêôà]|(?<![\w./-])(?:de|da|dos|das|nenhum|nenhuma|uma|hoje|agora|pelo|pela)(?![\w./-])/i;
/** Words that have a table of both languages, or are in their own language on purpose. */
const OWN_TABLES = ['Operação', 'Administração', 'Português'];

test('a template has no text of its own', () => {
  const own = code().flatMap(({ name, text }) =>
    listTemplates(text)
      .filter(({ tag }) => tag === 'html')
      .flatMap(({ text: shown }) => listTexts(shown))
      .filter((shown) => !COMMON.test(shown))
      .map((shown) => `${name}: ${shown}`),
  );
  expect(own).toEqual([]);
});

test('no text of the source language stands in the code without its English', () => {
  const found = code().flatMap(({ name, text }) => {
    const plain = listTemplates(text)
      .filter(({ tag }) => tag !== 'html')
      .map((one) => one.text);
    const quoted = [...text.matchAll(/'((?:[^'\\\n]|\\.)*)'/g)].map(([, one = '']) => one);
    return [...plain, ...quoted]
      .filter((one) => PORTUGUESE.test(one) && !Object.hasOwn(EN, one) && !OWN_TABLES.includes(one))
      .map((one) => `${name}: ${one}`);
  });
  expect(found).toEqual([]);
});

/** The console's code without comments. */
function code() {
  return read('http/console').map(({ name, text }) => ({
    name,
    text: text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, ''),
  }));
}

type Template = { tag: string; text: string };

/** The template literals of a program, those within others too, with `\0` in the place of each value. */
function listTemplates(program: string): Template[] {
  const found: Template[] = [];
  let at = 0;
  readCode('');
  return found;

  /** Reads up to the end of a template's value, or of the program. */
  function readCode(end: '}' | ''): void {
    for (let depth = 0; at < program.length; at++) {
      const char = program[at];
      if (char === "'" || char === '"') skipQuoted(char);
      else if (char === '`') readTemplate(/\w*$/.exec(program.slice(0, at))?.[0] ?? '');
      else if (char === '{') depth++;
      else if (char === '}' && depth-- === 0 && end === '}') return;
    }
  }

  function skipQuoted(quote: string): void {
    for (at++; program[at] !== quote && program[at] !== '\n'; at++) if (program[at] === '\\') at++;
  }

  function readTemplate(tag: string): void {
    let text = '';
    for (at++; program[at] !== '`'; at++) {
      if (program[at] === '\\') at++;
      else if (program.startsWith('${', at)) {
        at += 2;
        readCode('}');
        text += '\0';
        continue;
      }
      text += program[at];
    }
    found.push({ tag, text });
  }
}

/** What people read or hear of a markup. Commands and data in `code` and `pre` are in no language. */
function listTexts(markup: string): string[] {
  const attributes = [...markup.matchAll(/(?:aria-label|title|placeholder|alt)="([^"]*)"/g)].map(
    ([, text = '']) => text,
  );
  // a part of a tag, or of an address
  const isAttribute = !markup.includes('<') && /^(?: [\w-]+|&amp;\w+=)/.test(markup);
  const content = isAttribute
    ? ''
    : markup.replace(/<(code|pre|style)\b[^>]*>[\s\S]*?<\/\1>/g, '\0').replace(/<[^>]*>/g, '\0');
  return [...attributes, ...content.split('\0')]
    .map((text) => text.replaceAll('\0', '').trim())
    .filter((text) => /\p{L}/u.test(text));
}

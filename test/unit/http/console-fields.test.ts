import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { choiceField, filterField, inputField, SELECT_ENTRIES_MAX } from '../../../src/http/console/parts/fields.ts';
import { runInLanguage } from '../../../src/texts/language.ts';

const EMPTY = { values: {}, faults: {} };
const wordsTo = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, `Loja ${n}`]));

test('a field names its fault and its hint for those who cannot see it, and keeps what was typed', () => {
  const draft = { values: { from: '<b>' }, faults: { from: 'Este dia não existe.' } };
  const { text } = inputField(draft, { name: 'from', label: 'De', hint: 'Dia' });
  expect(text).toContain('name="from" aria-invalid="true" aria-describedby="from-hint from-fault" value="&lt;b&gt;"');
  expect(text).toContain('<span class="fault" id="from-fault" role="alert">Este dia não existe.</span>');
  expect(inputField(EMPTY, { name: 'from', label: 'De' }).text).not.toMatch(/aria-/);
});

test('a select of many entries is a text field that suggests them', () => {
  const few = choiceField(EMPTY, {
    name: 'platform',
    label: 'Plataforma',
    words: wordsTo(SELECT_ENTRIES_MAX),
    any: 'Todas',
  });
  expect(few.text).toContain('<option value="">Todas</option><option value="p0">Loja 0</option>');
  const draft = { values: { platform: 'p7' }, faults: {} };
  const many = choiceField(draft, { name: 'platform', label: 'Plataforma', words: wordsTo(SELECT_ENTRIES_MAX + 1) });
  expect(many.text).toContain('<input name="platform" value="p7"');
  expect(many.text).toContain('list="platform-list"');
  expect(many.text).toContain('<datalist id="platform-list"><option value="p0">Loja 0</option>');
  expect(many.text).not.toContain('<select');
});

test('a filter that is no choice stays selected', () => {
  const draft = { values: { kind: 'nonsense' }, faults: {} };
  const { text } = filterField(draft, { name: 'kind', label: 'Tipo', words: { a: 'A' }, any: 'Todos' });
  expect(text).toContain('<option value="nonsense" selected>nonsense</option>');
});

test('labels are in the language of the request', () => {
  const render = () => inputField(EMPTY, { name: 'platform', label: 'Plataforma' }).text;
  expect(runInLanguage('en', render)).toContain('<span>Platform</span>');
});

/** Methods that scripts and screen readers call on the elements of a page. A form gives its field of that name instead. */
const METHODS = ['append', 'closest', 'contains', 'focus', 'matches', 'remove', 'reset', 'submit', 'querySelector'];

test('no field hides a method of its form', () => {
  const folder = path.join(import.meta.dirname, '../../../src/http/console');
  const hiding = globSync('**/*.ts', { cwd: folder }).filter((file) =>
    METHODS.some((name) => readFileSync(path.join(folder, file), 'utf8').includes(`name: '${name}', label:`)),
  );
  expect(hiding).toEqual([]);
});

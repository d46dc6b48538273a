import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { runInLanguage } from '../../../src/texts/language.ts';
import { findNotice, NOTICES } from '../../../src/texts/notices.ts';

const root = path.resolve(import.meta.dirname, '../../../src/http');
const source = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(path.join(root, name), 'utf8'))
  .join('\n');

test('every notice is shown by a page, and every page that names one has it', () => {
  const names = Object.keys(NOTICES.en);
  expect(names.filter((name) => !source.includes(`done=${name}`) && !source.includes(`'${name}'`))).toEqual([]);
  const shown = [...source.matchAll(/[?&]done=([a-z_]+)|\bdone: '([a-z_]+)'/g)].map(
    ([, link, form]) => link ?? form ?? '',
  );
  expect(shown.length).toBeGreaterThan(30);
  expect(shown.filter((name) => !names.includes(name))).toEqual([]);
});

test('a notice is in the language of the request; another name has none', () => {
  expect([findNotice('left'), runInLanguage('en', () => findNotice('left'))]).toEqual([
    'Você saiu.',
    'You are logged out.',
  ]);
  expect([findNotice('constructor'), findNotice('Left')]).toEqual([undefined, undefined]);
});

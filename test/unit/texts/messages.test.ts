import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { say } from '../../../src/http/console/parts/page-components.ts';
import { runInLanguage } from '../../../src/texts/language.ts';
import { describeSaid, failure, message, readError, saidBy, storeError } from '../../../src/texts/messages.ts';
import { MESSAGES_EN } from '../../../src/texts/messages-en.ts';
import { MESSAGES_PT_BR } from '../../../src/texts/messages-pt-br.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const source = ['src', 'jobs']
  .flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.startsWith('texts/'))
      .map((name) => readFileSync(path.join(root, folder, name), 'utf8')),
  )
  .join('\n');
/** Faults name their kind alone, and expected payments their reason. */
const SHORT = /^(row|ofx|invoice|statement|account|expected)\./;
const COMPOSED = 'expected.unpaid_candidates';

test('every message is used, and its Portuguese text names the values that its English has', () => {
  const isUsed = (name: string): boolean =>
    source.includes(`'${name}'`) || (SHORT.test(name) && source.includes(`'${name.replace(SHORT, '')}'`));
  expect(Object.keys(MESSAGES_EN).filter((name) => name !== COMPOSED && !isUsed(name))).toEqual([]);
  const portuguese = new Map<string, string>(Object.entries(MESSAGES_PT_BR));
  const valuesIn = (text = ''): string => [...new Set(text.match(/\{\w+\}/g))].sort().join();
  const differs = Object.entries(MESSAGES_EN).filter(
    ([name, text]) => valuesIn(portuguese.get(name)) !== valuesIn(text),
  );
  expect(differs).toEqual([]);
});

test('an error says its messages in both languages, and the log has their English text', () => {
  const error = failure('conflict', [message('doctor.disk', { name: 'DATA_DIR', free: '1 B' }), message('file.empty')]);
  expect(error).toMatchObject({ code: 'conflict', reason: 'conflict' });
  expect(error.message).toBe('the disk of DATA_DIR has 1 B free; it is empty');
  expect(describeSaid(saidBy(error), 'pt-BR')).toBe('o disco de DATA_DIR tem 1 B livres; está vazio');
});

test('a stored error is read by its names, and by its text where it has none, or another version wrote it', () => {
  const stored = storeError([message('provider.answered', { status: 503 })]);
  expect(stored.error).toBe('the provider answered 503');
  expect(readError(stored)).toEqual([message('provider.answered', { status: 503 })]);
  expect(readError({ ...stored, error: 'the provider answered 500' })).toBe('the provider answered 500');
  expect(readError({ ...stored, error: null })).toBeUndefined();
  const unknown = [{ name: 'provider.of_a_later_version', values: {} }];
  expect(readError({ error: 'later', error_says: JSON.stringify(unknown) })).toBe('later');
  expect(readError(storeError('a text'))).toBe('a text');
  expect(storeError(undefined)).toEqual({ error: null, error_says: null });
});

test('a text of another program is marked as English, and its markup is text', () => {
  expect(say("access '/var/<data>'").text).toBe('<span lang="en">access &#39;/var/&lt;data&gt;&#39;</span>');
  const silent = () => say([message('provider.silent', { method: 'GET', code: '<b>' })]).text;
  expect(silent()).toBe('o provedor não respondeu a GET (&lt;b&gt;)');
  expect(runInLanguage('en', silent)).toBe('the provider did not answer GET (&lt;b&gt;)');
});

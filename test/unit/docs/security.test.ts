import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../../', import.meta.url);
const text = readFileSync(new URL('docs/security.md', root), 'utf8');
const model = text.slice(text.indexOf('## Threat model'), text.indexOf('## Other limits'));

test('each threat names a test that exists', () => {
  const rows = model.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| who | wants'));
  const threats = rows.filter((line) => !/^\| -/.test(line));
  expect(threats.length).toBeGreaterThan(15);
  for (const row of threats) {
    const cell = row.split('|').at(-2) ?? '';
    const names = [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? '');
    expect(names, row).not.toEqual([]);
    for (const name of names) expect(existsSync(new URL(`test/${name}.test.ts`, root)), name).toBe(true);
  }
});

/** The tables of docs/alerts.md and docs/watch.md that say which alerts and which rules page. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { isMismatchKind } from '../../../src/domain/mismatch.ts';
import { ALERT_KINDS } from '../../../src/texts/alerts/alert-kinds.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

/** The rows below a heading of a table, each with the names of alerts in its cells. */
function readNames(page: string, heading: string): { cells: string[]; names: string[][] }[] {
  const [, below = ''] = read(page).split(heading);
  const [, lines = ''] = below.split('\n| --- ').map((text) => text.split('\n\n')[0] ?? '');
  return lines
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => {
      const cells = line.slice(2, -2).split(' | ');
      return { cells, names: cells.map((cell) => [...cell.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name)) };
    });
}

test('the table of severities names each alert that is no mismatch', () => {
  const rows = readNames('docs/alerts.md', '## Which alerts page');
  expect(rows.map(({ names }) => names[0])).toEqual([['critical'], ['high'], ['medium']]);
  const named = rows.flatMap(({ names }) => names[2] ?? []);
  const own = ALERT_KINDS.filter((kind) => !isMismatchKind(kind));
  expect([...new Set(named)].filter((name) => own.some((kind) => kind === name)).sort()).toEqual([...own].sort());
});

test('the table of rules that page is that of ops/alerts.yml, by whether Confere has an alert of the name', () => {
  const rules = read('ops/alerts.yml')
    .split(/^ +- alert: /m)
    .slice(1);
  const paging = new Set(
    rules.filter((text) => text.includes('{ severity: page')).map((text) => text.split('\n')[0] ?? ''),
  );
  const [substitutes = [], others = []] = readNames('docs/watch.md', '| these rules page |').map(
    ({ names }) => names[0] ?? [],
  );
  const isOwn = (name: string): boolean => ALERT_KINDS.some((kind) => kind === name);
  expect(substitutes.toSorted()).toEqual([...paging].filter(isOwn).sort());
  expect(others.toSorted()).toEqual([...paging].filter((name) => !isOwn(name)).sort());
});

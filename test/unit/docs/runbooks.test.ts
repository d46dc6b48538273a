import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { isMismatchKind } from '../../../src/domain/mismatch.ts';
import { ALERT_KINDS } from '../../../src/texts/alerts/alert-kinds.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const rules = [...read('ops/alerts.yml').matchAll(/runbooks\.md#([a-z_]+)"/g)].map(([, name]) => name);
/** Sections of mismatches begin with the evidence that the mismatch shows. */
const conditions = ALERT_KINDS.filter((name) => !isMismatchKind(name) && name !== 'baseline_mismatches');
const sectionsOf = (file: string): string[] => read(file).split(/^## /m).slice(1);

test.each([
  { file: 'docs/runbooks.md', first: 'First', falseIf: 'False if' },
  { file: 'docs/runbooks.pt-BR.md', first: 'Primeiro', falseIf: 'Falso se' },
])(
  '$file begins each section of an outage with a command, and says when the alert is false',
  ({ file, first, falseIf }) => {
    const sections = sectionsOf(file);
    const lacking = [...new Set([...conditions, ...rules])].filter((name) => {
      const [, steps = ''] = sections.find((text) => text.startsWith(`${name}\n`))?.split(/\n\n(?=- \*\*)/) ?? [];
      return !steps.startsWith(`- **${first}**: `) || !steps.includes(`\n- **${falseIf}** `);
    });
    expect(lacking).toEqual([]);
  },
);

test('the runbooks have the same sections in both languages', () => {
  const [english = [], portuguese] = ['docs/runbooks.md', 'docs/runbooks.pt-BR.md'].map((file) =>
    sectionsOf(file).map((text) => text.split('\n')[0]),
  );
  expect(english.length).toBeGreaterThan(50);
  expect(portuguese).toEqual(english);
});

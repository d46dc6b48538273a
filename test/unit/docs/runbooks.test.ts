import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { ALERT_KINDS } from '../../../src/alerts/alert-kinds.ts';
import { isMismatchKind } from '../../../src/domain/mismatch.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const rules = [...read('ops/alerts.yml').matchAll(/runbooks\.md#([a-z_]+)"/g)].map(([, name]) => name);
/** Those of mismatches begin with the evidence that the mismatch shows. */
const conditions = ALERT_KINDS.filter((name) => !isMismatchKind(name) && name !== 'baseline_mismatches');

test.each([
  { file: 'docs/runbooks.md', names: [...conditions, ...rules], first: 'First', falseIf: 'False if' },
  { file: 'docs/runbooks.pt-BR.md', names: conditions, first: 'Primeiro', falseIf: 'Falso se' },
])(
  '$file begins each section of an outage with a command, and says when the alert is false',
  ({ file, names, first, falseIf }) => {
    const sections = read(file).split(/^## /m);
    const lacking = [...new Set(names)].filter((name) => {
      const [, steps = ''] = sections.find((text) => text.startsWith(`${name}\n`))?.split(/\n\n(?=- \*\*)/) ?? [];
      return !steps.startsWith(`- **${first}**: `) || !steps.includes(`\n- **${falseIf}** `);
    });
    expect(lacking).toEqual(['webhook_lost'].filter((name) => names.includes(name)));
  },
);

/** Faults of files: each is said in the language of who reads it. */
import { expect, test } from 'vitest';
import { describeFault } from '../../../src/http/console/imports/describe-faults.ts';
import { previewImport } from '../../../src/imports/import-file.ts';
import { ImportRefusedError } from '../../../src/imports/import-kind.ts';
import { findImportKind, IMPORT_KIND_NAMES } from '../../../src/imports/import-kinds.ts';
import { runInLanguage } from '../../../src/texts/language.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';

const env = closeAfterAll(await openConsoleEnvironment());
const ENGLISH = /\b(?:must|is|are|the|has|have|not|with|which|be|already|write|it|and|than|before|after|characters)\b/i;
const BAD = [
  'ERP!',
  'x'.repeat(7_000),
  'a | a',
  '-7,00',
  '0',
  '1999-01-01',
  '2099-01-01',
  '\u0007',
  'nfe',
  '[" "]',
  "'=",
];

test.each(IMPORT_KIND_NAMES.filter((name) => name !== 'nfe'))(
  'a bad value in any column of %s is refused in Portuguese',
  async (name) => {
    const kind = findImportKind(name);
    const columns = Object.entries(kind.columns);
    const examples = columns.map(([column, { example }]) =>
      column === 'platform' ? (env.paid.platform ?? '') : example,
    );
    const said = new Set<string>();
    for (const at of columns.keys())
      for (const bad of BAD) {
        const rows = [columns.map(([, { titles }]) => titles['pt-BR']), examples.with(at, bad)];
        const bytes = Buffer.from(
          rows.map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(';')).join('\n'),
        );
        try {
          await previewImport(env.context, { kind: name, bytes }, { allowEqual: false });
        } catch (error) {
          if (!(error instanceof ImportRefusedError)) throw error;
          for (const fault of error.faults) said.add(runInLanguage('pt-BR', () => describeFault(fault, kind)));
        }
      }
    expect(said.size).toBeGreaterThan(1);
    expect([...said].filter((text) => ENGLISH.test(text))).toEqual([]);
  },
);

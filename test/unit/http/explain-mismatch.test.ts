import { expect, test } from 'vitest';
import { MISMATCH_SEVERITY } from '../../../src/domain/mismatch.ts';
import { explainMismatch } from '../../../src/http/console/mismatches/explain-mismatch.ts';
import type { MismatchRow } from '../../../src/reports/read/read-mismatches.ts';
import { MISMATCH_COLUMNS, type RenderContext } from '../../../src/reports/render/columns.ts';
import { runInLanguage } from '../../../src/texts/language.ts';
import { textsOf } from '../../../src/texts/reports/texts.ts';

test.each(Object.keys(MISMATCH_SEVERITY))('%s has a title, a meaning, and one sentence on what to do', (kind) => {
  const { title, meaning, todo } = explainMismatch({ kind });
  expect(title).not.toBe(kind);
  expect(meaning).not.toBe('');
  expect(todo).toMatch(/^[^.]+\.$/);
});

const COMMISSION = { commission: '1.09' };
const OF_CONTRACT = {
  'pt-BR': 'As tarifas cobradas num dia não são as do contrato informado',
  en: "The commissions charged on a day are not the stated contract's",
};
test.each([
  ['pt-BR', COMMISSION, 'Tarifa mudou', 'A tarifa mudou depois do pagamento'],
  ['pt-BR', { ...COMMISSION, contract: 'cc_1' }, 'Tarifas fora do contrato', OF_CONTRACT['pt-BR']],
  ['en', COMMISSION, 'Commission changed', 'The commission changed after payment'],
  ['en', { ...COMMISSION, contract: 'cc_1' }, 'Commissions are not the contract’s', OF_CONTRACT.en],
] as const)('in %s, a commission that is expected as %o is called: %s', (language, expected, title, meaning) => {
  const mismatch = { kind: 'commission_differs', expected };
  expect(runInLanguage(language, () => explainMismatch(mismatch))).toMatchObject({ title, meaning });
  const sheet = MISMATCH_COLUMNS.find(({ name }) => name === 'meaning');
  const row = { kind: 'commission_differs', expected: JSON.stringify(expected), actual: null } as MismatchRow;
  expect(sheet?.cell(row, { texts: textsOf(language) } as RenderContext)).toMatchObject({ text: meaning });
});

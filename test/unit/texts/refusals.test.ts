import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { REFUSALS_EN } from '../../../src/texts/refusals-en.ts';
import { REFUSALS_PT_BR } from '../../../src/texts/refusals-pt-br.ts';
import { faultOf, refuse, refuseField, refuseFields } from '../../../src/texts/refuse.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const source = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.startsWith('texts/refusals'))
  .map((name) => readFileSync(path.join(root, 'src', name), 'utf8'))
  .join('\n');
const english = Object.values(REFUSALS_EN).flatMap((texts) => Object.entries(texts));
const namesIn = (text: string): string[] => [...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

test('every reason is used, stands once, and its Portuguese text names values that its English has', () => {
  const names = english.map(([reason]) => reason);
  expect(new Set(names).size).toBe(names.length);
  const composed = new Set(['empty', 'not_json', 'not_an_object', 'too_deep'].map((defect) => `webhook_${defect}`));
  expect(names.filter((reason) => !source.includes(`'${reason}'`) && !composed.has(reason))).toEqual([]);
  const portuguese: Record<string, string> = REFUSALS_PT_BR;
  const unknown = english.filter(([reason, text]) =>
    namesIn(portuguese[reason] ?? '{none}').some((name) => !namesIn(text).includes(name)),
  );
  expect(unknown).toEqual([]);
});

test('a refusal has the code of its group, its reason and values, and the English text as its message', () => {
  expect(refuse('bank_line_matched', { match: 'bm_1' })).toMatchObject({
    ...{ code: 'conflict', reason: 'bank_line_matched', values: { match: 'bm_1' } },
    message: 'the line is matched already: bm_1',
  });
  expect(refuseField('at', 'before_pix', { day: '2020-11-01' })).toMatchObject({
    ...{ code: 'invalid_request', reason: 'before_pix', message: 'at is before 2020-11-01: there was no PIX' },
    fields: { at: ['is before 2020-11-01: there was no PIX'] },
  });
});

test('faults of several kinds have one reason together, and keep their own texts by field', () => {
  const faults = [faultOf('from', 'day_wrong'), faultOf('to', 'to_before_from'), faultOf('from', 'days_reversed')];
  expect(refuseFields(faults)).toMatchObject({
    ...{ reason: 'fields_invalid', message: 'from must be a day: YYYY-MM-DD; to is before from; from is after to' },
    fields: { from: ['must be a day: YYYY-MM-DD', 'is after to'], to: ['is before from'] },
  });
});

import { beforeAll, expect, test } from 'vitest';
import type { Role } from '../../../src/access/roles.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { acknowledgeMismatch } from '../../../src/mismatches/resolve-mismatch-by-hand.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { openReport } from '../../../src/reports/serve/open-report.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { observe } from '../../support/make-observations.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { logIn } from '../../support/open-console-session.ts';
import { readRow } from '../../support/read-rows.ts';
import { readWorkbook, rowsOf, sheetOf } from '../reports/read-workbook.ts';

const NOTE = 'falei com Zuzimara, CPF 111.444.777-35';
/** Another extra, which is a document. */
const EXTRA = '11144477735';
const environment = closeAfterAll(await openConsoleEnvironment());
let id: string;

beforeAll(async () => {
  const { context } = environment;
  await applyObservations(context, [observe({ ...environment.paid, extra: EXTRA }, context.clock.now())]);
  ({ id } = await readRow(context.db, 'mismatches', ['id'], {
    kind: 'reference_differs',
    transaction_id: environment.paid.id,
  }));
  await acknowledgeMismatch(context, id, { actor: 'admin', note: NOTE });
});

type Mismatch = { id: string; note: string; expected: { extra: string }; actual: { extra: string } };

test('a viewer reads that a mismatch has a note and two hashes, and neither of them, in every place', async () => {
  const find = (list: Mismatch[]) => list.find((one) => one.id === id);
  const readAll = async (role: Role) => {
    const listed = await call<{ mismatches: Mismatch[] }>(role, 'mismatches?limit=200');
    const reported = await call<{ mismatches: Mismatch[] }>(role, `transactions/${environment.paid.id}`);
    return [find(listed.mismatches), await call<Mismatch>(role, `mismatches/${id}`), find(reported.mismatches)];
  };
  for (const mismatch of await readAll('viewer')) {
    expect(mismatch).toMatchObject({
      note: '***',
      expected: { extra: 'sha256:***' },
      actual: { extra: 'sha256:***' },
    });
  }
  for (const mismatch of await readAll('operator')) {
    expect(mismatch?.note).toBe(NOTE);
    expect(mismatch?.actual.extra).toMatch(/^sha256:[0-9a-f]{64}$/);
  }
});

test('the page of a mismatch shows a viewer its notes and hashes masked, those of its story too', async () => {
  const [viewer, operator] = [await readPage('viewer'), await readPage('operator')];
  expect(operator.split(NOTE)).toHaveLength(3);
  expect(operator).toMatch(/sha256:[0-9a-f]{64}/);
  expect(viewer).not.toContain('Zuzimara');
  expect(viewer).not.toMatch(/sha256:[0-9a-f]{64}/);
  expect(viewer.split('***').length).toBeGreaterThan(4);
});

test('a report’s masked file hides notes', async () => {
  await makeReport(environment.context, environment.today);
  const read = async (masked: boolean) => {
    const { file } = await openReport(environment.context, { day: environment.today, format: 'xlsx', masked });
    const rows = rowsOf(sheetOf(await readWorkbook(file), 'Divergências'));
    return rows.find((row) => row.Observação?.value);
  };
  const [full, masked] = [await read(false), await read(true)];
  expect(full?.Observação?.value).toBe(NOTE);
  expect(full?.Encontrado?.value).toMatch(/sha256:[0-9a-f]{64}/);
  expect(masked?.Observação?.value).toBe('***');
  expect(masked?.Encontrado?.value).toContain('extra: sha256:***');
  expect(masked?.Esperado?.value).toContain('extra: sha256:***');
});

test('the note of an adjustment is masked', async () => {
  const entered = {
    platform: 'p',
    day: environment.today,
    kind: 'other',
    amount: '1.00',
    note: NOTE,
    new_platform: true,
  };
  expect(await call('admin', 'adjustments', entered)).toMatchObject({ note: NOTE });
  expect(await call('operator', 'adjustments')).toMatchObject({ adjustments: [{ note: NOTE }] });
  expect(await call('viewer', 'adjustments')).toMatchObject({ adjustments: [{ note: '***', amount: '1.00' }] });
});

const call = async <T>(role: Role, address: string, body?: object) =>
  (await environment.api<T>(role, body ? 'POST' : 'GET', `/${address}`, body)).json;

async function readPage(role: Role): Promise<string> {
  const cookie = await logIn(environment.url, environment.tokens[role]);
  return await (await fetch(`${environment.url}/mismatches/${id}`, { headers: { cookie } })).text();
}

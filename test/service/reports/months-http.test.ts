import { beforeAll, expect, test } from 'vitest';
import type { Role } from '../../../src/access/roles.ts';
import { transact } from '../../../src/database/transact.ts';
import { expectedFactsSchema } from '../../../src/expected/expected-fields.ts';
import { decideAll } from '../../../src/expected/follow/follow-payments.ts';
import { putExpected } from '../../../src/expected/put-expected.ts';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import { listMismatches } from '../../../src/mismatches/read-mismatches.ts';
import { resolveMismatches } from '../../../src/mismatches/resolve-mismatches.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { applyTransactions, recordReadDays, transactionOf } from '../../support/make-report-transactions.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { openSurfaces, type Surfaces } from '../../support/open-surfaces.ts';
import { SECRET_KEY } from '../../support/start-serve.ts';

const [OCTOBER, NOVEMBER] = ['2025-10', '2025-11'];
/** A platform that is somebody's document. */
const DOCUMENT = '11144477735';
const READ_AT = new Date('2025-12-05T12:00:00Z');

const books = closeAfterAll(await openEnvironment({ SECRET_KEY }));
let surfaces: Surfaces;
beforeAll(async () => {
  const { context } = books;
  surfaces = await openSurfaces(books);
  const one = (day: string) =>
    transactionOf('cashin', 10_000n, [['paid', `${day} 10:00:00`]], { platform: DOCUMENT, document: DOCUMENT });
  await applyTransactions(context, [one('2025-10-10'), one('2025-11-10')]);
  await recordReadDays(context, '2025-10-02', '2025-11-30', READ_AT);
  await sealNow(context);
});

type Json = Record<string, unknown>;

const call = (role: Role, path: string, body?: object) => surfaces.api(role, body ? 'POST' : 'GET', path, body);

const run = (...args: string[]) => surfaces.confere(...args);

const UNPROVEN = {
  code: 'day_unproven',
  detail: '2025-10-01 was neither read nor counted at the provider after its end: start a run for it',
  link: '/reports/2025-10-01',
  day: '2025-10-01',
};

test('a refused close is a problem with every reason, the same on the command line', async () => {
  const { context } = books;
  const found = { kind: 'balance_differs' as const, scope: DOCUMENT };
  const evidence = {
    expected: { balance: '1.00', at: '2025-12-20T10:00:00-03:00' },
    actual: { ledger: '2.00', difference: '-1.00' },
  };
  await transact(context.db, (trx) => raiseMismatches(trx, [{ ...found, ...evidence }], context.clock.now()));
  const [{ id } = { id: '' }] = await listMismatches(context, { kind: found.kind, limit: 1 });
  const refused = await call('accountant', `/months/${OCTOBER}/close`, {});
  expect([refused.status, refused.type]).toEqual([409, 'application/problem+json; charset=utf-8']);
  expect(refused.json.refusals).toEqual([
    UNPROVEN,
    {
      ...{ code: 'balance_differs', link: `/mismatches/${id}`, mismatch_id: id, platform: DOCUMENT },
      detail: `the balance 1.00 of platform ${DOCUMENT}, stated for 2025-12-20T10:00:00-03:00, is not the ledger's 2.00: a difference of -1.00`,
    },
  ]);
  expect(refused.json.detail).toContain(`2025-10 can't be closed: ${UNPROVEN.detail}; the balance 1.00`);
  // the checklist says the same to a viewer, without the document
  const shown = await call('viewer', `/months/${OCTOBER}`);
  expect(shown.json).toMatchObject({ state: 'open', refusals: [UNPROVEN, { platform: '***' }], balances: null });
  expect((await call('viewer', `/months/${NOVEMBER}`)).json.leaves_open).toBe(OCTOBER);
  expect(JSON.stringify(shown.json)).not.toContain(DOCUMENT);
  const command = await run('close', '--month', OCTOBER);
  expect(command).toMatchObject({ code: 1, out: '' });
  expect(command.err).toContain(`2025-10 is as it was:\n- ${UNPROVEN.detail}\n- the balance 1.00`);
  expect(await run('close', '--month', OCTOBER, '--check', '--json')).toMatchObject({
    code: 1,
    json: { month: OCTOBER, refusals: refused.json.refusals },
  });
  await transact(context.db, (trx) => resolveMismatches(trx, [found], 'fresh_evidence', context.clock.now()));
  await recordReadDays(context, '2025-10-01', '2025-10-01', READ_AT);
  expect(await run('close', '--month', OCTOBER, '--check')).toMatchObject({
    code: 0,
    out: 'nothing keeps 2025-10 from being closed\n',
  });
  expect(await run('close', '--month', NOVEMBER, '--check')).toMatchObject({
    code: 0,
    out: 'nothing keeps 2025-11 from being closed; 2025-10 has entries and would stay open\n',
  });
});

test('unpaid orders keep no month open, and each door counts them', async () => {
  const { context } = books;
  const facts = { operation: 'cashout', amount: '10.00', issued_day: '2025-10-03', due_day: '2025-10-03' };
  const arrivals = [{ source: 'erp', number: 'conta-1', facts: expectedFactsSchema.parse(facts) }];
  await putExpected(context, { arrivals, actor: 'test' });
  await decideAll(context);
  const shown = await call('viewer', `/months/${OCTOBER}`);
  expect(shown.json).toMatchObject({ refusals: [], expected: { paid: 0, unpaid: 1, undecided: 0 } });
  expect(await run('close', '--month', OCTOBER, '--check')).toMatchObject({
    code: 0,
    out: 'nothing keeps 2025-10 from being closed\nof the orders due in it, 1 are unpaid and 0 to decide\n',
  });
});

test('an accountant closes a month once, and only an admin reopens it, with a note', async () => {
  for (const role of ['viewer', 'operator'] as const)
    expect((await call(role, `/months/${OCTOBER}/close`, {})).status).toBe(403);
  const closed = await call('accountant', `/months/${OCTOBER}/close`, { note: 'entregue' });
  expect([closed.status, closed.json]).toMatchObject([201, { state: 'closed', note: 'entregue', refusals: [] }]);
  expect(closed.json.balances).toContainEqual({
    ...{ account: `Assets:Provider:Available:${DOCUMENT}`, opening: '0.00', closing: '99.50' },
  });
  const again = await call('admin', `/months/${OCTOBER}/close`, { note: 'outra' });
  expect([again.status, again.json]).toEqual([200, closed.json]);
  expect(await run('close', '--month', OCTOBER, '--json')).toMatchObject({ code: 0, json: closed.json });
  // a viewer sees no note and no document
  const masked = await call('viewer', `/months/${OCTOBER}`);
  expect(masked.json).toMatchObject({ note: '***', position: closed.json.position, digest: closed.json.digest });
  expect(JSON.stringify(masked.json)).not.toContain(DOCUMENT);
  const listed = (await run('months', '--json')).json.months as Json[];
  expect(listed.map(({ month, state }) => [month, state]).slice(-2)).toEqual([
    [NOVEMBER, 'open'],
    [OCTOBER, 'closed'],
  ]);
  const { months, next_cursor } = (await call('viewer', '/months?limit=1')).json as {
    months: Json[];
    next_cursor: string;
  };
  expect(months).toMatchObject([{ state: 'running' }]);
  const rest = (await call('viewer', `/months?cursor=${next_cursor}&limit=200`)).json as { months: Json[] };
  expect([...months, ...rest.months]).toHaveLength(listed.length);

  expect((await call('accountant', `/months/${OCTOBER}/reopen`, { note: 'erro' })).status).toBe(403);
  expect(await call('admin', `/months/${OCTOBER}/reopen`, {})).toMatchObject({
    status: 422,
    json: { errors: { note: {} } },
  });
  expect(await run('close', '--month', NOVEMBER)).toMatchObject({ code: 0 });
  const blocked = await call('admin', `/months/${OCTOBER}/reopen`, { note: 'erro' });
  expect(blocked).toMatchObject({ status: 409, json: { refusals: [{ code: 'later_month_closed', month: NOVEMBER }] } });
  expect(await run('reopen', '--month', OCTOBER, '--note', 'erro')).toMatchObject({ code: 1 });
  expect(await run('reopen', '--month', NOVEMBER, '--note', 'erro')).toMatchObject({
    code: 0,
    out: 'reopened 2025-11\n',
  });
  const reopened = await call('admin', `/months/${OCTOBER}/reopen`, { note: 'faltou um ajuste' });
  expect(reopened).toMatchObject({ status: 200, json: { state: 'open', position: null, balances: null } });
  expect((reopened.json.changes as Json[]).map(({ action, note }) => [action, note])).toEqual([
    ['reopen', 'faltou um ajuste'],
    ['close', 'entregue'],
  ]);
});

test('a text that is no month, and a month that has not begun, are refused', async () => {
  expect((await call('viewer', '/months/2025-13')).status).toBe(404);
  expect((await call('viewer', '/months/2099-01')).status).toBe(404);
  expect((await call('admin', '/months/2099-01/close', {})).status).toBe(422);
  expect((await run('close', '--month', '2025-13')).code).toBe(2);
  expect((await run('close', '--month', '2099-01')).code).toBe(2);
  expect((await run('reopen', '--month', OCTOBER, '--note', ' ')).code).toBe(2);
  expect((await run('reopen', '--month', '2025-01', '--note', 'erro')).err).toContain('2025-01 is not closed');
});

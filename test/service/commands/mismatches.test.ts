import { expect, test } from 'vitest';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { makeShownTransaction, observeNow } from '../../support/read-ledger-state.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { SECRET_KEY } from '../../support/start-serve.ts';

test('mismatches are listed, acknowledged, accepted and resolved by command, each audited', async () => {
  await using env = await openEnvironment({ SECRET_KEY, WEBHOOKS_SINCE: '2026-01-01T00:00:00Z' });
  const [one, other] = [makeShownTransaction(['paid@1']), makeShownTransaction(['paid@1'])];
  const changed = [one, other].map((row) => ({ ...row, amount: '12.00' }));
  for (const [seconds, rows] of [[one, other], changed].entries()) {
    const observations = rows.map((row) => observeNow(env.context, row, seconds));
    await applyObservations(env.context, observations);
  }
  const run = (...args: string[]) => runCommandInProcess(['mismatches', ...args], env.env);
  const listed = await run('list', '--state', 'open', '--kind', 'amount_differs', '--json');
  const { mismatches } = listed.json as { mismatches: { id: string; transaction_id: string }[] };
  expect(mismatches.map((row) => row.transaction_id).sort()).toEqual([one.id, other.id].sort());
  const [first, second] = mismatches.map((row) => row.id);
  expect((await run('acknowledge', first ?? '', '--json')).json).toMatchObject({ state: 'acknowledged' });
  const seen = { amount: '12.00', operation: 'cashin' };
  const accept = (actual: string) => run('accept', first ?? '', '--note', 'they wrote', '--actual', actual, '--json');
  expect(await run('accept', first ?? '', '--note', 'they wrote')).toMatchObject({
    code: 2,
    err: expect.stringContaining('--actual'),
  });
  expect(await accept('12.00 cashin')).toMatchObject({ code: 2, err: expect.stringContaining('--actual') });
  expect(await accept(JSON.stringify({ ...seen, amount: '13.00' }))).toMatchObject({
    code: 1,
    err: expect.stringContaining('something else by now'),
  });
  const accepted = await accept(JSON.stringify(seen));
  expect(accepted.json).toMatchObject({ state: 'resolved', resolution: 'accepted', note: 'they wrote' });
  expect(await run('resolve', second ?? '')).toMatchObject({ code: 2, err: expect.stringContaining('note') });
  const another = JSON.stringify({ ...seen, amount: '13.00' });
  expect(await run('resolve', second ?? '', '--note', 'ours is right', '--actual', another)).toMatchObject({
    code: 1,
    err: expect.stringContaining('something else by now'),
  });
  const kept = await run(
    'resolve',
    second ?? '',
    '--note',
    'ours is right',
    '--actual',
    JSON.stringify(seen),
    '--json',
  );
  expect(kept.json).toMatchObject({ resolution: 'by_hand', note: 'ours is right' });
  const many = [first ?? '', second ?? ''];
  expect((await run('resolve', ...many, '--json')).json).toEqual({ resolved: 0, more: false });
  expect((await run('resolve', '--kind', 'amount_differs', '--json')).json).toEqual({ resolved: 0, more: false });
  expect(await run('resolve', ...many, '--kind', 'amount_differs')).toMatchObject({ code: 2 });
  expect(await run('resolve', ...many, '--actual', JSON.stringify(seen))).toMatchObject({ code: 2 });
  expect(await run('resolve', ...many, 'mm_none')).toMatchObject({
    code: 1,
    err: expect.stringContaining('1 of 3 ids'),
  });
  expect(await accept(JSON.stringify(seen))).toMatchObject({
    code: 1,
    err: expect.stringContaining('resolved already'),
  });
  const table = (await run('list')).out;
  expect(table).toContain(second);
  expect(table).toMatch(new RegExp(`${other.id}  R\\$ 2\\.00 at stake  of a transaction of R\\$ 10\\.00`));
  // as the console shows it; --json keeps ISO 8601
  expect(table).toMatch(/ {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d-03:00 {2}/);
  expect(table).not.toMatch(/\d\dZ/);
  const audited = await env.context.db.selectFrom('audit').select(['action', 'target', 'actor', 'detail']).execute();
  const detail = expect.stringMatching(`"${one.id}"`) as string;
  expect(audited.filter((row) => row.action.startsWith('mismatches.'))).toEqual([
    { action: 'mismatches.list', target: '["state","kind"]', actor: 'command', detail },
    { action: 'mismatches.acknowledge', target: first, actor: 'command', detail: null },
    { action: 'mismatches.accept', target: first, actor: 'command', detail: null },
    { action: 'mismatches.resolve', target: second, actor: 'command', detail: null },
    { action: 'mismatches.list', target: '[]', actor: 'command', detail },
  ]);
});

import { expect, test } from 'vitest';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import { findMerchant } from '../../../src/merchants/read-merchants.ts';
import { openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { openMerchantServer } from '../../support/open-merchant-server.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { SECRET_KEY } from '../../support/start-serve.ts';
import { inFile } from '../../support/write-temporary-file.ts';

test('merchants are changed and tested, and callbacks listed and sent again, by command', async () => {
  await using env = await openCallbackEnvironment({ SECRET_KEY });
  await using shop = await openMerchantServer();
  const { merchant } = await env.addMerchant(`${shop.url}/a`);
  const { id } = merchant;
  const { db, clock } = env.context;
  await env.deliver();
  const run = (...args: string[]) => runCommandInProcess(args, env.env);

  await env.applyTransaction(['paid']);
  await env.advanceUntil('delivered', () => shop.acceptedCalls('/a').length === 1);
  const dry = await run('merchants', 'update', id, '--operation', 'cashout', '--dry-run', '--json');
  expect(dry.json).toMatchObject({ dry_run: true, events: 1, matched: 0, before: { matched: 1, gained: 0, lost: 1 } });
  const late = await createMerchant(env.context, { name: 'late', url: null, eventsSince: clock.now() });
  const back = await run(
    'merchants',
    'update',
    late.merchant.id,
    '--events-since',
    '2020-01-01T00:00:00Z',
    '--dry-run',
  );
  expect(back.out).toMatch(/^1 callbacks of past events would follow$/m);
  expect(await run('merchants', 'update', id)).toMatchObject({ code: 2, err: expect.stringContaining('--name') });
  const unusable = await run('merchants', 'update', id, '--extra-match', '__proto__=x');
  expect(unusable).toMatchObject({
    code: 2,
    err: expect.stringContaining('--extra-match cannot use the key __proto__'),
  });
  const changed = await run('merchants', 'update', id, '--name', 'Loja', '--rate', '5', '--status', 'paid', '--json');
  expect(changed.json).toMatchObject({ id, name: 'Loja', rate: 5, manifests: true, filter: { statuses: ['paid'] } });
  await run('merchants', 'update', id, '--rate', 'none', '--everything', '--manifests', 'off');
  expect(await findMerchant(db, id)).toMatchObject({ name: 'Loja', rate: null, manifests: 0 });
  const rotated = await run('manifests', 'rotate-key', '--overlap-days', '7', '--json');
  expect(rotated.json).toMatchObject({ kid: expect.any(String), old_kid: null });
  expect(await run('manifests', 'rotate-key', '--overlap-days', '-1')).toMatchObject({ code: 2 });

  const [token, headers] = [inFile('token', 'known\n'), inFile('headers', 'X-Key: theirs: 1\r\nx-zone: br\n')];
  const own = ['--header', headers];
  expect(await run('merchants', 'update', id, '--format', 'provider', ...own)).toMatchObject({
    ...{ code: 2, err: expect.stringContaining('bearer_token is required by the format provider') },
  });
  expect(await run('merchants', 'update', id, '--header', inFile('wrong', 'x-key'))).toMatchObject({ code: 2 });
  for (const [option, secret] of [
    ['--header', 'x-key: a-secret'],
    ['--bearer-token', 'a-secret'],
  ] as const) {
    const refused = await run('merchants', 'update', id, option, secret);
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining(`${option} takes a file with it, or -`) });
    expect(refused.err).not.toContain('a-secret');
  }
  const flat = await run('merchants', 'update', id, '--format', 'provider', '--bearer-token', token, ...own, '--json');
  expect(flat.json).toMatchObject({ format: 'provider', has_bearer_token: true, header_names: ['x-key', 'x-zone'] });
  expect(flat.out).not.toMatch(/theirs|known/);
  const plain = ['--format', 'standard', '--bearer-token', 'none', '--header', 'x-zone:', '--json'];
  expect((await run('merchants', 'update', id, ...plain)).json).toMatchObject({
    ...{ format: 'standard', has_bearer_token: false, header_names: ['x-key'] },
  });
  const named = ['--name', 'Nova', '--format', 'provider', '--bearer-token', token, '--json'];
  expect((await run('merchants', 'add', ...named)).json).toMatchObject({ format: 'provider', has_bearer_token: true });

  const tested = await run('merchants', 'test', id, '--json');
  expect(tested.json).toMatchObject({ type: 'confere.test', state: 'delivered', attempt: { response_status: 200 } });
  expect(shop.callsTo('/a').at(-1)?.headers).toMatchObject({ 'x-key': 'theirs: 1' });
  shop.behaviours['/a'] = () => 503;
  expect(await run('merchants', 'test', id)).toMatchObject({ code: 1, err: expect.stringMatching(/failed: 503/) });
  shop.behaviours['/a'] = () => 200;

  const { callbacks } = (await run('callbacks', 'list', '--state', 'delivered', '--merchant', id, '--json')).json as {
    callbacks: { id: string; type: string }[];
  };
  expect(callbacks.map(({ type }) => type)).toEqual(['confere.test', 'pix.cashin.paid']);
  const before = shop.acceptedCalls('/a').length;
  expect((await run('callbacks', 'redeliver', callbacks[1]?.id ?? '', '--json')).json).toMatchObject({
    state: 'pending',
  });
  await env.advanceUntil('sent again', () => shop.acceptedCalls('/a').length === before + 1);
  await env.advanceUntil('recorded', async () => {
    const pending = await db.selectFrom('callbacks').select('seq').where('state', '=', 'pending').execute();
    return pending.length === 0;
  });
  const range = [
    '--merchant',
    id,
    '--from',
    '2026-01-01T00:00:00Z',
    '--to',
    new Date(clock.now().getTime() + 60_000).toISOString(),
  ];
  expect((await run('callbacks', 'replay', ...range, '--dry-run', '--json')).json).toEqual({
    ...{ merchant: id, count: 1, dry_run: true },
  });
  expect((await run('callbacks', 'replay', ...range)).out).toContain('1 callbacks are queued again');
  await env.advanceUntil('sent once more', () => shop.acceptedCalls('/a').length === before + 2);
  const audited = await db.selectFrom('audit').select('action').where('actor', '=', 'command').orderBy('seq').execute();
  expect(audited.map(({ action }) => action)).toEqual([
    // a count reveals what a filter matches, by command as by API
    ...['merchant.backfill_counted', 'merchant.backfill_counted'],
    ...['merchant.changed', 'merchant.changed', 'manifests.key_rotated', 'merchant.changed', 'merchant.changed'],
    ...['merchant.added', 'merchant.tested', 'merchant.tested', 'callback.redelivered'],
    ...['callbacks.replay_requested', 'callbacks.replay_requested', 'callbacks.replayed'],
  ]);
});

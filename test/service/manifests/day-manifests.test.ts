/** Day manifests, from the payment to the merchant: the callback, the feed and the API, verified by the scripts in docs. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { z } from 'zod';
import { claimProbe } from '../../../src/callbacks/queue/claim-callbacks.ts';
import { readDeliveryMerchants } from '../../../src/callbacks/queue/read-delivery-merchants.ts';
import { digestIds } from '../../../src/callbacks/render/build-statement.ts';
import { manifestEventSchema, type manifestSchema } from '../../../src/callbacks/render/event-schema.ts';
import { REPEATED_MAX, readNewest } from '../../../src/callbacks/render/render-examples.ts';
import { transact } from '../../../src/database/transact.ts';
import { addDays, type Day } from '../../../src/domain/calendar.ts';
import { serveHttp } from '../../../src/http/connections/serve-http.ts';
import { createApp } from '../../../src/http/create-app.ts';
import { acceptMismatch } from '../../../src/ledger/correct/accept-mismatch.ts';
import { makeDayManifests } from '../../../src/manifests/make-day-manifests.ts';
import { readMembers } from '../../../src/manifests/read-members.ts';
import { defaultEventsSince, setMerchantState } from '../../../src/merchants/change-merchants.ts';
import { issuePullToken } from '../../../src/merchants/pull-token.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import { appendToLog } from '../../../src/tlog/append.ts';
import { makeCheckpoint } from '../../../src/tlog/checkpoints.ts';
import { rotateManifestKey } from '../../../src/tlog/keys.ts';
import { callApi } from '../../support/call-api.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { recordReadDays } from '../../support/make-report-transactions.ts';
import {
  type AppliedTransaction,
  openCallbackEnvironment,
  type TransactionFacts,
} from '../../support/open-callback-environment.ts';
import { TEST_HTTP_LIMITS } from '../../support/open-environment.ts';
import { type Call, type MerchantServer, openMerchantServer } from '../../support/open-merchant-server.ts';
import { createMerchantToken } from '../../support/open-scopes.ts';
import { readRow } from '../../support/read-rows.ts';
import { ADMIN_TOKEN, temporaryDirectory } from '../../support/start-serve.ts';
import { runBackfills } from '../../support/work-backfills.ts';

type Manifest = z.infer<typeof manifestSchema>;
type Answer = { manifest: Manifest; payload: string; proof: string | null };
/** A merchant that receives the payments of a platform of its own, at an address of its own. */
type Shop = { id: string; seq: number; path: string; portal: string; paid: AppliedTransaction };

const DOCS = path.resolve(import.meta.dirname, '../../../docs');
const SCRIPTS = { 'verify-day.mjs': process.execPath, 'verify-day.php': 'php' };
const TYPE = 'pix.day.manifest';

const env = closeAfterAll(await openCallbackEnvironment());
let server: MerchantServer;
let origin: string;
const shops: Record<string, Shop> = {};
/** The day of the shops' first payments, which has ended. */
let day: Day;

beforeAll(async () => {
  const app = env.use(await serveHttp(env.context, createApp(env.context), TEST_HTTP_LIMITS));
  origin = `http://127.0.0.1:${app.port}`;
  server = env.use(await openMerchantServer());
  await env.deliver();
  // the first tick: what was before has no manifest
  await makeDayManifests(env.context);
  for (const name of ['main', 'late', 'proven', 'a', 'b', 'gone']) await addShop(name);
  await addShop('feed', { url: null });
  await addShop('off', { manifests: false });
  await addShop('refusing');
  await addShop('paused');
  server.behaviours['/refusing'] = (one) => (typeOf(one) === TYPE ? 400 : 200);
  await env.applyTransaction(['pending', 'paid'], factsOf('main'));
  await env.applyTransaction(['pending', 'paid', 'refund'], { ...factsOf('main'), operation: 'cashout' });
  await get(`/api/v1/merchants/${shopOf('main').id}/test`, ADMIN_TOKEN, 'POST');
  await setMerchantState(env.context, shopOf('feed').id, 'disabled');
  await setMerchantState(env.context, shopOf('paused').id, 'paused');
  await sealNow(env.context);
  day = await endDay();
});

function factsOf(name: string): TransactionFacts {
  return { platform: name };
}

function shopOf(name: string): Shop {
  const shop = shops[name];
  if (!shop) throw new Error(`there is no shop ${name}`);
  return shop;
}

async function addShop(
  name: string,
  { url = `${server.url}/${name}`, manifests }: { url?: string | null; manifests?: boolean } = {},
): Promise<void> {
  const eventsSince = defaultEventsSince(env.context.clock.now());
  const filter = { platforms: [name], statuses: ['paid', 'refund', 'corrected'] };
  const { merchant } = await env.addMerchant('', { url, filter, eventsSince, manifests });
  await runBackfills(env.context);
  const portal = await createMerchantToken(env.context, merchant.id);
  const paid = await env.applyTransaction(['paid'], factsOf(name));
  shops[name] = { id: merchant.id, seq: merchant.seq, path: `/${name}`, portal, paid };
}

/** Ends the running day, and makes its manifests as the job does. @returns the day. */
async function endDay(): Promise<Day> {
  const { calendar, clock } = env.context;
  const running = calendar.dayOf(clock.now());
  const next = calendar.startOfDay(addDays(running, 1)).getTime();
  await env.timers.advance(next - clock.now().getTime() + 6 * 3_600_000);
  await makeDayManifests(env.context);
  await proveAll();
  await env.timers.advance(150_000);
  return running;
}

/** Appends to the log what waits, as the sealer does. */
async function proveAll(): Promise<void> {
  const { position } = await sealNow(env.context);
  await transact(env.context.db, (trx) => appendToLog(trx, position));
  await makeCheckpoint(env.context);
}

const callsOf = (name: string) => server.callsTo(`/${name}`);
const idOf = ({ headers }: Pick<Call, 'headers'>) => String(headers['webhook-id']);
const typeOf = ({ json }: Pick<Call, 'json'>) => json.type;

async function fetchManifest(name: string, of: Day = day, query = ''): Promise<Answer> {
  const { status, text } = await get(`/api/v1/manifests/${of}${query}`, shopOf(name).portal);
  expect(status, text).toBe(200);
  return JSON.parse(text) as Answer;
}

/** A merchant may ask ten times a second: a second after the request before. */
async function get(address: string, token = ADMIN_TOKEN, method = 'GET') {
  if (token !== ADMIN_TOKEN) await env.timers.advance(1_000);
  return await callApi({ url: origin, token }, method, address);
}

async function statesOf(name: string): Promise<string[]> {
  const rows = env.context.db.selectFrom('callbacks').select(['type', 'state']).orderBy('seq');
  return (await rows.where('merchant_seq', '=', shopOf(name).seq).execute()).map((row) => `${row.type} ${row.state}`);
}

test('a manifest is sent once the day has ended, and the scripts name the message that the merchant lacks', async () => {
  const sent = await env.advanceUntil('it', () => callsOf('main').find((one) => typeOf(one) === TYPE));
  const message = manifestEventSchema.parse(JSON.parse(sent.body));
  const messages = callsOf('main').filter((one) => typeOf(one).startsWith('pix.cash'));
  expect(message.data.manifest).toMatchObject({
    ...{ merchant: shopOf('main').id, day, zone: 'America/Sao_Paulo', revision: 1, messages: 4 },
    ...{ proven: false, closed: false },
    types: [
      { type: 'pix.cashin.paid', count: 2, sum_cents: '24690' },
      { type: 'pix.cashout.paid', count: 1, sum_cents: '12345' },
      { type: 'pix.cashout.refund', count: 1, sum_cents: '12345' },
    ],
    ids_sha256: digestIds(messages.map(idOf)).toString('hex'),
    chain: { position: expect.any(Number), hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
  });
  expect(JSON.parse(Buffer.from(message.data.payload, 'base64url').toString())).toEqual(message.data.manifest);

  const ids = await get(`/api/v1/manifests/${day}/ids`, shopOf('main').portal);
  expect(ids).toMatchObject({ status: 200, type: expect.stringContaining('text/plain') });
  const keys = await get('/.well-known/confere-manifest-keys.json', 'nobody');
  const key = (JSON.parse(keys.text) as { keys: { vkey: string }[] }).keys[0]?.vkey ?? '';
  const verify = (kept: string[], body = sent.body) => {
    using home = temporaryDirectory();
    const files = { manifest: body, key, ids: ids.text, kept: kept.join('\n') };
    const names = Object.entries(files).map(([name, text]) => {
      const file = path.join(home.path, name);
      writeFileSync(file, text);
      return file;
    });
    const answers = Object.entries(SCRIPTS).map(([script, program]) => {
      const { status, stdout, stderr } = spawnSync(program, [path.join(DOCS, script), ...names], { encoding: 'utf8' });
      return [status, stderr, ...stdout.trim().split('\n')];
    });
    expect(answers[1]).toEqual(answers[0]);
    return answers[0] ?? [];
  };
  // tests and manifests too: they are no messages of the day
  const kept = callsOf('main').map(idOf);
  expect(kept).toHaveLength(6);
  expect(verify(kept)).toEqual([0, '', 'nothing is missing']);
  const [deleted] = messages.map(idOf);
  expect(verify(kept.filter((id) => id !== deleted))).toEqual([1, '', `missing ${deleted}`]);
  const { payload, proof } = message.data;
  const other = {
    payload: Buffer.from(`${Buffer.from(payload, 'base64url').toString()} `).toString('base64url'),
    proof,
  };
  expect(verify(kept, JSON.stringify(other))[0]).toBe(2);
  expect(verify(kept, JSON.stringify({ payload, proof: proof?.replace(/index \d+/, 'index 0') }))[0]).toBe(2);
  expect(verify(kept, JSON.stringify({ payload, proof: proof?.replace(/\n\d+\n/, '\n99\n') }))[0]).toBe(2);
  expect(verify(kept, sent.body.replaceAll(/— \S+ /g, '— another ')).slice(0, 2)).toEqual([
    2,
    'not signed by the log\n',
  ]);
  const changed = sent.body.replace(/(— \S+ \S{20})(.)/, (_, begin, one) => `${begin}${one === 'A' ? 'B' : 'A'}`);
  expect(verify(kept, changed)[0]).toBe(2);
  expect(verify(kept, JSON.stringify({ payload, proof: null }))[0]).toBe(3);
});

test('the messages of a day are read in pages, each once', async () => {
  const merchantSeqs = [shopOf('main').seq, shopOf('a').seq];
  const read = async (pageEvents: number) => {
    const members = await readMembers(env.context, day, { merchantSeqs, cut: Number.MAX_SAFE_INTEGER, pageEvents });
    return [...members].map(([seq, own]) => [seq, own.map(({ id }) => id).sort()] as const);
  };
  const whole = await read(1000);
  expect(whole.map(([, ids]) => ids.length)).toEqual([4, 1]);
  for (const size of [1, 2, 3]) expect(await read(size)).toEqual(whole);
});

test('a merchant reads its own manifests alone, and operators those of a given merchant', async () => {
  const [a, b] = [shopOf('a'), shopOf('b')];
  const [ofA, ofB] = [await fetchManifest('a'), await fetchManifest('b')];
  expect([ofA.manifest.merchant, ofB.manifest.merchant]).toEqual([a.id, b.id]);
  expect(ofA.manifest.ids_sha256).not.toBe(ofB.manifest.ids_sha256);
  for (const part of ['', '/ids']) {
    const address = `/api/v1/manifests/${day}${part}`;
    const status = async (query: string, token?: string) => (await get(`${address}${query}`, token)).status;
    expect(await status(`?merchant=${a.id}`, b.portal)).toBe(422);
    expect(await status('', 'nobody')).toBe(401);
    expect(await status(''), 'whose?').toBe(422);
    expect((await get(address)).text).toContain("merchant: is required, unless the token is a merchant's");
    expect(await status('?merchant=mer_none')).toBe(404);
    expect(await status(`?merchant=${a.id}&revision=2`)).toBe(404);
    expect((await get(`/api/v1/manifests/2026-02-30${part}?merchant=${a.id}`)).status).toBe(422);
  }
  expect(JSON.parse((await get(`/api/v1/manifests/${day}?merchant=${a.id}`)).text)).toEqual(ofA);
  expect((await get(`/api/v1/manifests/${addDays(day, 1)}`, a.portal)).status, 'it runs still').toBe(404);
});

test('a merchant that fetches finds manifests in its feed, those of when it was disabled too', async () => {
  const { id } = shopOf('feed');
  const pull = await issuePullToken(env.context, id);
  expect((await get(`/api/v1/manifests/${day}`, pull)).status, 'it is disabled').toBe(401);
  await setMerchantState(env.context, id, 'enabled');
  const { events } = JSON.parse((await get('/api/v1/events', pull)).text) as { events: { type: string }[] };
  expect(events.map((event) => event.type)).toEqual(['pix.cashin.paid', TYPE]);
  const { text } = await get(`/api/v1/manifests/${day}`, pull);
  expect(events[1]).toMatchObject({ data: JSON.parse(text) as object });
  expect((await get(`/api/v1/manifests/${day}/ids?merchant=${id}`, pull)).status).toBe(422);
});

test('a merchant whose manifests are off is sent none, and can fetch them', async () => {
  expect((await fetchManifest('off')).manifest.revision).toBe(1);
  expect(await statesOf('off')).toEqual(['pix.cashin.paid delivered']);
});

test('an address that refuses manifests alone is not held, and is not disabled', async () => {
  await env.advanceUntil('the schedule to end', async () => (await statesOf('refusing')).includes(`${TYPE} failed`));
  const merchant = env.context.db.selectFrom('merchants').selectAll().where('seq', '=', shopOf('refusing').seq);
  expect(await merchant.executeTakeFirstOrThrow()).toMatchObject({
    state: 'enabled',
    failures: 0,
    failing_since: null,
  });
});

test('a manifest is held with the other callbacks, and is not the probe of an address while there is another', async () => {
  const held = `${TYPE} held`;
  await env.advanceUntil('the upkeep', async () => (await statesOf('paused')).includes(held));
  const { seq } = shopOf('paused');
  const own = env.context.db.updateTable('callbacks').where('merchant_seq', '=', seq);
  // a payment that is held behind it
  await own.set({ state: 'held', next_attempt_at: env.context.clock.now() }).where('type', '<>', TYPE).execute();
  const merchant = (await readDeliveryMerchants(env.context)).find((one) => one.seq === seq);
  if (!merchant) throw new Error('the merchant is gone');
  const [probe] = await claimProbe(env.context, merchant, new Set());
  expect(probe?.type).toBe('pix.cashin.paid');
});

test('a message that is learnt later and a corrected amount make the next revision of their day', async () => {
  const { paid, portal } = shopOf('late');
  const first = await fetchManifest('late');
  // the event of yesterday, learnt today
  paid.shown.events.unshift({ status: 'refund', date_created: `${day} 23:59:59` });
  await env.appendEvents(paid, []);
  await makeDayManifests(env.context);
  const second = await fetchManifest('late');
  expect(second.manifest).toMatchObject({ revision: 2, messages: 2 });
  expect((await fetchManifest('late', day, '?revision=1')).manifest).toEqual(first.manifest);
  const linesOf = async (query: string) => {
    const { text } = await get(`/api/v1/manifests/${day}/ids${query}`, portal);
    return text.split('\n').length - 1;
  };
  expect([await linesOf('?revision=1'), await linesOf('')]).toEqual([1, 2]);
  // beyond what a tick reads again
  await env.timers.advance(2 * 3_600_000);
  expect(await makeDayManifests(env.context)).toEqual({ made: 0 });
  // another amount, which a person accepts: the merchant gets a correction today, of a payment of that day
  paid.shown.amount = '100.00';
  await env.appendEvents(paid, []);
  const mismatches = env.context.db.selectFrom('mismatches').select('id').where('kind', '=', 'amount_differs');
  const { id } = await mismatches.executeTakeFirstOrThrow();
  await acceptMismatch(env.context, id, { actor: 'adm', note: 'seen' });
  await makeDayManifests(env.context);
  expect((await fetchManifest('late')).manifest).toMatchObject({
    ...{ revision: 3, messages: 2, ids_sha256: second.manifest.ids_sha256 },
    types: [{ sum_cents: '10000' }, { sum_cents: '10000' }],
  });
  const today = await endDay();
  expect((await fetchManifest('late', today)).manifest.types).toEqual([
    { type: 'pix.cashin.corrected', count: 1, sum_cents: '10000' },
  ]);
  expect((await fetchManifest('a', today)).manifest, 'a day without a message').toMatchObject({
    ...{ revision: 1, messages: 0, types: [] },
  });
  expect(await makeDayManifests(env.context), 'a repeated tick').toEqual({ made: 0 });
  await env.advanceUntil('each revision', () => {
    const sent = callsOf('late').filter((one) => typeOf(one) === TYPE);
    return new Set(sent.map(idOf)).size === 4;
  });
});

test('a manifest says that its day was proven and closed once it was, and keeps saying it', async () => {
  const now = env.context.clock.now();
  await recordReadDays(env.context, day, day, now);
  await makeDayManifests(env.context);
  expect((await fetchManifest('proven')).manifest).toMatchObject({ revision: 2, proven: true, closed: false });
  const run = await recordReadDays(env.context, addDays(day, -95), day, now);
  await makeDayManifests(env.context);
  expect((await fetchManifest('proven')).manifest).toMatchObject({ revision: 3, proven: true, closed: true });
  const { seq } = await env.context.db.selectFrom('runs').select('seq').where('id', '=', run).executeTakeFirstOrThrow();
  await env.context.db.deleteFrom('run_windows').where('run_seq', '=', seq).execute();
  await env.context.db
    .insertInto('due_day_manifests')
    .values({ day, merchant_seq: shopOf('proven').seq })
    .execute();
  expect(await makeDayManifests(env.context)).toEqual({ made: 0 });
});

test('past days of a merchant with events_since get manifests once its backfill has enqueued them', async () => {
  const { merchant } = await env.addMerchant(`${server.url}/past`, { filter: { platforms: ['main'] } });
  const manifests = async () => {
    const rows = env.context.db.selectFrom('day_manifests').select('day').where('merchant_seq', '=', merchant.seq);
    return (await rows.orderBy('day').execute()).map((row) => row.day);
  };
  await runBackfills(env.context);
  const setState = (state: string) =>
    env.context.db.updateTable('backfills').set({ state }).where('merchant_seq', '=', merchant.seq).execute();
  // as if more pages were to come
  await setState('running');
  await makeDayManifests(env.context);
  expect(await manifests()).toEqual([]);
  await setState('done');
  await makeDayManifests(env.context);
  expect((await manifests())[0]).toBe(day);
});

test('a message that is gone from the database is an error, never another list', async () => {
  const { seq, portal } = shopOf('gone');
  await env.context.db.deleteFrom('callbacks').where('merchant_seq', '=', seq).where('event_seq', '>', 0).execute();
  expect((await get(`/api/v1/manifests/${day}/ids`, portal)).status).toBe(409);
});

test('all keys are served with their names for the log, and a manifest of version 1 as it was signed', async () => {
  const rotated = await rotateManifestKey(env.context, 2);
  await env.timers.advance(10_000);
  const { keys } = JSON.parse((await get('/.well-known/confere-manifest-keys.json', 'nobody')).text) as {
    keys: { kid: string; vkey: string; signs_until: string | null }[];
  };
  expect(keys.map(({ kid, signs_until: until }) => [kid, until === null])).toEqual([
    [rotated.kid, true],
    [rotated.old_kid, false],
  ]);
  expect(keys[0]?.vkey).toMatch(/^\S+\/log\+[0-9a-f]{8}\+\S{44}$/);
  const { seq } = shopOf('b');
  const signatures = [{ protected: 'a', signature: 'b' }];
  const row = await env.context.db
    .selectFrom('day_manifests')
    .selectAll()
    .where('merchant_seq', '=', seq)
    .executeTakeFirstOrThrow();
  const { seq: _, ...old } = row;
  const payload = JSON.stringify({ version: 1, day });
  await env.context.db
    .insertInto('day_manifests')
    .values({ ...old, revision: 99, payload, signatures: JSON.stringify(signatures), callback_seq: null })
    .execute();
  const { text } = await get(`/api/v1/manifests/${row.day}`, shopOf('b').portal);
  expect(JSON.parse(text)).toEqual({ manifest: JSON.parse(payload), payload: expect.any(String), signatures });
});

test('an example repeats the newest manifest, however many messages came since', async () => {
  const { db, clock } = env.context;
  const { seq, paid } = shopOf('a');
  const readExample = async () => (await readNewest(env.context, seq, [TYPE])).get(TYPE)?.webhook_id;
  const before = await readExample();
  expect(before).toMatch(/^msg_/);
  const { seq: transaction_seq } = await readRow(db, 'transactions', ['seq'], { id: paid.id });
  const row = { merchant_seq: seq, transaction_seq, type: 'pix.cashin.paid', source: 'list', state: 'delivered' };
  const created_at = new Date(clock.now().getTime() + 1);
  const more = Array.from({ length: REPEATED_MAX }, (_, at) => ({ ...row, webhook_id: `msg_since_${at}`, created_at }));
  await db.insertInto('callbacks').values(more).execute();
  expect(await readExample()).toBe(before);
  expect(await readNewest(env.context, seq, ['confere.none'])).toEqual(new Map());
});

/** The log as it is served: its checkpoint, its tiles, and proofs that others verify. */
import { expect, test } from 'vitest';
import { audit } from '../../../src/access/audit.ts';
import { transact } from '../../../src/database/transact.ts';
import { serveHttp } from '../../../src/http/connections/serve-http.ts';
import { createApp } from '../../../src/http/create-app.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import { writeSealLeaf } from '../../../src/tlog/append.ts';
import { makeCheckpoint } from '../../../src/tlog/checkpoints.ts';
import { hashLeaf, hashTile } from '../../../src/tlog/merkle.ts';
import { parseCheckpoint } from '../../../src/tlog/note.ts';
import { appendLeaves } from '../../../src/tlog/tree.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openEnvironment, TEST_HTTP_LIMITS, type TestEnvironment } from '../../support/open-environment.ts';
import { ADMIN_TOKEN } from '../../support/start-serve.ts';
import { rootOfInclusion } from '../../support/verify-tree.ts';

const env = closeAfterAll(await openEnvironment());
const url = await serve(env.context);

async function serve(context: TestEnvironment['context']): Promise<string> {
  const server = env.use(await serveHttp(context, createApp(context), TEST_HTTP_LIMITS));
  return `http://127.0.0.1:${server.port}`;
}

async function get(path: string, { at = url, token = ADMIN_TOKEN } = {}) {
  const headers = token ? { authorization: `Bearer ${token}` } : undefined;
  const response = await fetch(`${at}${path}`, headers ? { headers } : {});
  return { status: response.status, body: Buffer.from(await response.arrayBuffer()) };
}

test('a proof leads from the leaf of a seal to the root of the checkpoint, and tiles hold the same hashes', async () => {
  const { context } = env;
  expect((await get('/log/checkpoint')).status).toBe(404);
  await audit(context, { actor: 'command', action: 'test', target: 't' });
  const seal = await sealNow(context);
  const others = Array.from({ length: 300 }, (_, ref) => ({ kind: 'day' as const, ref, hash: hashLeaf(`${ref}`) }));
  await transact(context.db, (trx) => appendLeaves(trx, others));
  expect((await get('/api/v1/log/proof?seal=1')).status).toBe(404);
  await makeCheckpoint(context);
  const checkpoint = parseCheckpoint((await get('/log/checkpoint')).body.toString());
  const [head = '', ...note] = (await get('/api/v1/log/proof?seal=1')).body.toString().split('\n\n');
  expect(parseCheckpoint(note.join('\n\n'))).toEqual(checkpoint);
  const [version, index, ...hashes] = head.split('\n');
  expect([version, index]).toEqual(['c2sp.org/tlog-proof@v1', 'index 0']);
  const path = hashes.map((line) => Buffer.from(line, 'base64'));
  expect(rootOfInclusion(0, 301, hashLeaf(writeSealLeaf(seal)), path)).toEqual(checkpoint?.root);
  const full = await get('/log/tile/0/000');
  expect(full.body).toHaveLength(256 * 32);
  const part = await get('/log/tile/0/001.p/45');
  expect(part.body).toEqual(Buffer.concat(others.slice(255).map(({ hash }) => hash)));
  const hashed = hashTile(Array.from({ length: 256 }, (_, at) => full.body.subarray(at * 32, (at + 1) * 32)));
  expect((await get('/log/tile/1/000.p/1')).body).toEqual(hashed);
  const widths = ['0/000.p/256', '0/000.p/257', '0/000.p/301', '0/000.p/0', '0/000.p/01'];
  for (const wrong of [...widths, '0/001', '0/001.p/46', '0/1', '64/000', '0/x001/000', '0/x000/000', 'entries/000'])
    expect([wrong, (await get(`/log/tile/${wrong}`)).status]).toEqual([wrong, 404]);
  for (const wrong of ['', '?seal=x', '?month=2026-13x', '?seal=1&month=2026-01', '?merchant_day=m_x/yesterday'])
    expect([wrong, (await get(`/api/v1/log/proof${wrong}`)).status]).toEqual([wrong, 422]);
});

test('a month that the calendar lacks is no question', async () => {
  const { status, body } = await get('/api/v1/log/proof?month=2026-13');
  expect([status, body.toString()]).toEqual([422, expect.stringContaining('month: must be a month: YYYY-MM')]);
});

test('hashes need a token, unless LOG_PUBLIC; proofs need one always', async () => {
  const open = await serve(await env.replica({ LOG_PUBLIC: 'true' }));
  for (const path of ['/log/checkpoint', '/log/tile/0/000']) {
    expect((await get(path, { token: '' })).status).toBe(401);
    expect((await get(path, { token: '', at: open })).status).toBe(200);
  }
  expect((await get('/api/v1/log/proof?seal=1', { token: '', at: open })).status).toBe(401);
});

import { type Kysely, type KyselyPlugin, sql } from 'kysely';
import { expect, test } from 'vitest';
import { auditChange } from '../../../src/access/audit.ts';
import { openSession } from '../../../src/access/sessions.ts';
import { createToken } from '../../../src/access/tokens.ts';
import type { Database } from '../../../src/database/tables.ts';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import { callApi } from '../../support/call-api.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { loseCommit } from '../../support/failing-database.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { openTestContext } from '../../support/open-environment.ts';
import { readRow } from '../../support/read-rows.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';

type Row = { id: string; at: string; actor: string; action: string; target: string; detail: string | null };

const environment = closeAfterAll(await openConsoleEnvironment());

const call = (method: string, address: string, body?: unknown, token = environment.tokens.admin) =>
  callApi({ url: `${environment.url}/api/v1`, token }, method, address, body);

async function listAudit(query = ''): Promise<Row[]> {
  return (await call('GET', `/audit${query}`)).json.audit as Row[];
}

/** Every row there is, but for what leaves no trace in it. */
async function dump(db: Kysely<Database>): Promise<Record<string, string>> {
  const { rows: tables } = await sql<{ name: string }>`SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'`.execute(db);
  const all: Record<string, string> = {};
  for (const { name } of tables) {
    const { rows } = await sql.raw(`SELECT * FROM ${name}`).execute(db);
    all[name] = JSON.stringify(rows, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
  }
  return all;
}

/** One change of each kind that people make, and what it answers when it is done. */
async function listChanges(): Promise<[string, string, unknown, number][]> {
  const { context, today, changed } = environment;
  const { merchant } = await createMerchant(context, { name: 'audited', url: 'http://127.0.0.1:9/' });
  const { id: token } = await createToken(context, { name: 'audited', role: 'viewer' });
  const mismatch = await readRow(context.db, 'mismatches', ['id', 'actual'], {
    kind: 'amount_differs',
    transaction_id: changed.id,
  });
  const webhook = ((await call('GET', '/webhooks?state=quarantined')).json.webhooks as { id: string }[])[0];
  const callback = ((await call('GET', '/callbacks')).json.callbacks as { id: string }[])[0];
  const at = { platform: 'p', day: today, new_platform: true };
  const one = `/merchants/${merchant.id}`;
  return [
    ['POST', '/tokens', { role: 'viewer' }, 201],
    ['DELETE', `/tokens/${token}`, undefined, 204],
    ['POST', '/merchants', { name: 'm', url: 'http://127.0.0.1:9/' }, 201],
    ['PATCH', one, { name: 'renamed' }, 200],
    ['POST', `${one}/rotate-secret`, {}, 200],
    ['POST', `${one}/test`, {}, 202],
    ['POST', `${one}/pull-token`, {}, 200],
    ['DELETE', `${one}/pull-token`, undefined, 204],
    ['POST', `${one}/pause`, {}, 200],
    ['POST', `${one}/enable`, {}, 200],
    ['DELETE', one, undefined, 204],
    ['POST', '/openings', { ...at, balance: '1.00' }, 201],
    ['POST', '/adjustments', { ...at, kind: 'fee', amount: '-1.00', note: 'n' }, 201],
    ['POST', '/statements', { platform: 'p', at: new Date().toISOString(), balance: '0.00', new_platform: true }, 201],
    ['POST', '/commissions', { operation: 'cashin', fixed: '0.10', basis_points: 99, from: today }, 201],
    ['POST', '/reconciliations', { from: today, to: today }, 202],
    ['POST', `/mismatches/${mismatch.id}/acknowledge`, {}, 200],
    ['POST', `/mismatches/${mismatch.id}/accept`, { actual: JSON.parse(mismatch.actual ?? 'null') }, 200],
    ['POST', `/webhooks/${webhook?.id}/reprocess`, {}, 202],
    ['POST', `/callbacks/${callback?.id}/redeliver`, {}, 202],
  ];
}

test('no change is made that can’t be written down, and each that is made is', async () => {
  const { db } = environment.context;
  const changes = await listChanges();
  for (const [method, address, body, done] of changes) {
    const name = `${method} ${address}`;
    await sql`CREATE TRIGGER audit_refused BEFORE INSERT ON audit
      FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused'`.execute(db);
    const before = await dump(db);
    expect((await call(method, address, body)).status, name).toBe(500);
    expect(await dump(db), name).toEqual(before);
    await sql`DROP TRIGGER audit_refused`.execute(db);
    const known = await listAudit('?limit=200');
    expect((await call(method, address, body)).status, name).toBe(done);
    const [written, ...others] = await listAudit('?limit=200');
    expect([written?.actor, others], name).toEqual(['admin', known]);
  }
});

test('a COMMIT whose answer was lost makes the change once, and one row of the audit', async () => {
  await using context = await openTestContext();
  const unlucky = loseCommit(context, 'audit');
  const make = (inner: typeof context) => createToken(inner, { name: 'once', role: 'viewer' });
  const made = await auditChange(unlucky, make, ({ id }) => ({
    actor: 'command',
    action: 'tokens.create',
    target: id,
  }));
  const tokens = await context.db.selectFrom('tokens').select('id').execute();
  const rows = await context.db.selectFrom('audit').select('target').execute();
  expect([tokens, rows]).toEqual([[{ id: made.id }], [{ target: made.id }]]);
});

test('a COMMIT without an answer, whose row is seen late, gives what was committed', async () => {
  await using context = await openTestContext();
  let isHidden = false;
  const late: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      if (isHidden || Object.keys(result.rows[0] ?? {}).join() !== 'at') return result;
      isHidden = true;
      return { ...result, rows: [] };
    },
  };
  const made = await auditChange(
    loseCommit({ ...context, db: context.db.withPlugin(late) }, 'audit'),
    (inner) => createToken(inner, { name: 'once', role: 'viewer' }),
    ({ id }) => ({ actor: 'command', action: 'tokens.create', target: id }),
  );
  expect(isHidden).toBe(true);
  expect(await context.db.selectFrom('tokens').select('id').execute()).toEqual([{ id: made.id }]);
  expect(await context.db.selectFrom('audit').select('target').execute()).toEqual([{ target: made.id }]);
});

test('loops are woken after the commit, and not by a change that failed', async () => {
  await using context = await openTestContext();
  let notified = 0;
  const runs = { ...context.wakeUps.runs, notify: () => void notified++ };
  const observed = { ...context, wakeUps: { ...context.wakeUps, runs } };
  const done = { actor: 'command', action: 'test', target: 't' };
  await auditChange(
    observed,
    async (inner) => {
      inner.wakeUps.runs.notify();
      expect(notified).toBe(0);
    },
    done,
  );
  expect(notified).toBe(1);
  const failing = auditChange(
    observed,
    async (inner) => {
      inner.wakeUps.runs.notify();
      throw new Error('no');
    },
    done,
  );
  await expect(failing).rejects.toThrow('no');
  expect(notified).toBe(1);
});

test('access to personal data is audited, and access to masked data is not', async () => {
  const { operator, accountant, viewer } = environment.tokens;
  const { id } = environment.paid;
  const mismatch = ((await call('GET', '/mismatches')).json.mismatches as { id: string }[])[0]?.id ?? '';
  const reads: [string, string][] = [
    [`/transactions?status=paid`, 'transactions.list'],
    [`/transactions/${id}`, 'transactions.show'],
    ['/mismatches', 'mismatches.list'],
    [`/mismatches/${mismatch}`, 'mismatches.show'],
    ['/adjustments', 'adjustments.list'],
  ];
  const actors = await environment.context.db.selectFrom('tokens').select(['id', 'role']).execute();
  for (const [address, action] of reads) {
    const before = (await listAudit('?limit=1'))[0]?.id;
    expect((await call('GET', address, undefined, viewer)).status, address).toBe(200);
    expect((await listAudit('?limit=1'))[0]?.id, address).toBe(before);
    for (const [role, token] of [
      ['operator', operator],
      ['accountant', accountant],
    ] as const) {
      expect((await call('GET', address, undefined, token)).status).toBe(200);
      const [row] = await listAudit('?limit=1');
      const actor = actors.find((one) => one.id === row?.actor);
      expect([row?.action, actor?.role], address).toEqual([action, role]);
    }
  }
});

test('the API lists the audit in pages, the newest first, narrowed by each filter, for admins alone', async () => {
  for (const role of ['viewer', 'accountant', 'operator'] as const)
    expect((await call('GET', '/audit', undefined, environment.tokens[role])).status).toBe(403);
  const all: Row[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { json } = await call('GET', `/audit?limit=7&cursor=${cursor}`);
    all.push(...(json.audit as Row[]));
    cursor = json.next_cursor as string | null;
  }
  expect(all.length).toBeGreaterThan(15);
  expect(all).toEqual(await listAudit('?limit=200'));
  const seqs = all.map(({ id }) => Number(id.slice(3)));
  expect(seqs).toEqual(seqs.toSorted((a, b) => b - a));
  const one = all[Math.floor(all.length / 2)] as Row;
  for (const name of ['actor', 'action', 'target'] as const) {
    const same = all.filter((row) => row[name] === one[name]);
    expect(await listAudit(`?${name}=${encodeURIComponent(one[name])}`)).toEqual(same);
    expect(same.length).toBeLessThan(all.length);
  }
  const at = encodeURIComponent(one.at);
  expect(await listAudit(`?to=${at}&limit=200`)).toEqual(all.filter((row) => row.at < one.at));
  expect(await listAudit(`?from=${at}&limit=200`)).toEqual(all.filter((row) => row.at >= one.at));
  for (const query of ['?actors=x', '?from=yesterday', '?limit=0', '?cursor=x', '?actor=a&actor=b'])
    expect((await call('GET', `/audit${query}`)).status, query).toBe(422);
});

test('the console shows the audit to admins, and the command prints it', async () => {
  const open = async (token: string) => {
    const cookie = `confere_session=${await openSession(environment.context, token)}`;
    return await fetch(`${environment.url}/audit?action=merchant.added`, { headers: { cookie }, redirect: 'manual' });
  };
  expect((await open(environment.tokens.operator)).status).toBe(403);
  const page = await (await open(environment.tokens.admin)).text();
  expect(page).toContain('Auditoria');
  expect(page).toContain('merchant.added');
  expect(page).not.toContain('tokens.create');
  const rows = await listAudit('?action=merchant.added');
  const { out, code } = await runCommandInProcess(['audit', '--action', 'merchant.added', '--json'], environment.env);
  expect([code, JSON.parse(out)]).toEqual([0, { audit: rows }]);
  expect((await runCommandInProcess(['audit', '--limit', 'many'], environment.env)).code).toBe(2);
  expect((await runCommandInProcess(['audit', '--from', 'yesterday'], environment.env)).code).toBe(2);
});

/**
 * Each declared change, by each of its doors: the same row, the same audit row but for who and where, the same roles. A change
 * that is not in the table fails.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { mayActAs, ROLES, type Role } from '../../../src/access/roles.ts';
import { SUBJECTS } from '../../../src/operations/catalogue.ts';
import { callApi } from '../../support/call-api.ts';
import { type Doors, listChangeExamples } from '../../support/change-examples.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { openConsoleSession } from '../../support/open-console-session.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { SECRET_KEY } from '../../support/start-serve.ts';

const env = closeAfterAll(await openConsoleEnvironment({ SECRET_KEY }));
const CHANGES = listChangeExamples(env);

/** Changes that need books of their own: the test that makes each by its doors, and names the action of its audit row there. */
const ELSEWHERE: Record<string, string> = {
  // the detail names those that were handled
  'mismatches.acknowledge_many': 'browser/console',
  'mismatches.resolve_many': 'browser/console',
  'webhooks.purge': 'service/commands/webhooks',
  'bank.match_line': 'service/http/console-bank',
  'bank.undo': 'service/http/console-bank',
  'bank.mark': 'service/http/console-bank',
  'bank.unmark': 'service/http/console-bank',
  'bank.account': 'service/http/console-bank',
  'months.close': 'service/http/console-months',
  'months.reopen': 'service/http/console-months',
};

const DECLARED = SUBJECTS.flatMap(({ changes = [] }) => changes);
const CHANGES_OF_ALL = DECLARED.filter(({ name }) => !(name in ELSEWHERE));

test('each declared change is in the table, under a name and with an audit of its own', () => {
  expect(DECLARED.map(({ name }) => name).sort()).toEqual(Object.keys({ ...CHANGES, ...ELSEWHERE }).sort());
  expect(new Set(DECLARED.map(({ name }) => name)).size).toBe(DECLARED.length);
});

test.each(DECLARED.filter(({ name }) => name in ELSEWHERE))(
  '$name is made and audited elsewhere',
  ({ name, audit = name }) => {
    const file = path.resolve(import.meta.dirname, `../../${ELSEWHERE[name]}.test.ts`);
    expect(readFileSync(file, 'utf8')).toContain(`'${audit}'`);
  },
);

test('changes of one route take the same roles: the route admits by them', () => {
  const routes = Map.groupBy(DECLARED, ({ route = '' }) => route);
  const mixed = [...routes].filter(
    ([route, own]) => route !== '' && new Set(own.map(({ roles }) => [roles].flat().join())).size > 1,
  );
  expect(mixed.map(([route]) => route)).toEqual([]);
});

async function readAudit(after: number) {
  const rows = env.context.db.selectFrom('audit').selectAll().where('seq', '>', after).orderBy('seq');
  return await rows.execute();
}
const lastAudit = async (): Promise<number> => (await readAudit(0)).at(-1)?.seq ?? 0;

/** Ids, instants, actors and platforms differ from door to door; everything else is the same. */
function compared(body: object): object {
  const own =
    /^(?:acknowledged_at|asked_at|expires_at|opened_at|resolved_at|transaction_id|number|source|matched_to|matches|backfill|merchant|merchant_id|webhook_id|next_attempt_at|secret|old_secret_until|id|platform|token|at|created_at|created_by|reverses|run)$/;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !own.test(name)));
}

const callAs = (role: Role, method: string, address: string, body?: object) =>
  callApi({ url: env.url, token: env.tokens[role] }, method, `/api/v1${address}`, body);

describe.each(CHANGES_OF_ALL)('$name', (change) => {
  const [method = '', route = ''] = change.route?.split(' ') ?? [];
  const action = change.audit ?? change.name;
  const prepare = async (): Promise<Doors> => (await CHANGES[change.name]?.()) ?? {};
  const addressOf = ({ id = '', path = '' }: Doors) => route.replace('{id}', id).replace('{source}/{number}', path);

  test('makes the same row by API and command, and one audit row by each door', async () => {
    const [byApi, byCommand, byForm] = [await prepare(), await prepare(), await prepare()];
    let before = await lastAudit();
    const [role] = change.roles;
    const answer = change.route && (await callAs(role, method, addressOf(byApi), byApi.body));
    const audited = (await readAudit(before)).filter((row) => row.action === action);
    if (answer) {
      const statuses = change.status ? Object.keys(change.answers) : Object.keys(change.answers).slice(-1);
      expect([statuses, answer.text]).toEqual([expect.arrayContaining([String(answer.status)]), expect.anything()]);
      expect(audited).toHaveLength(1);
    }

    if (byCommand.command) {
      before = await lastAudit();
      const command = await runCommandInProcess([...byCommand.command, '--json'], env.env);
      expect(command).toMatchObject({ code: 0, err: '' });
      if (answer && answer.text !== '') expect(answer.json).toMatchObject(compared(JSON.parse(command.out) as object));
      const [ofCommand, ...others] = (await readAudit(before)).filter((row) => row.action === action);
      expect([ofCommand?.actor, ofCommand?.detail, others]).toEqual(['command', audited[0]?.detail ?? null, []]);
    }

    if (!byForm.form) return;
    before = await lastAudit();
    const session = await openConsoleSession(env, role);
    const caller = audited[0]?.actor ?? 'admin';
    const { address, fields = {} } = byForm.form;
    const preview = await session.post(address, fields);
    const done = preview.status === 200 ? await session.confirm(address, preview) : preview;
    expect([done.status === 303 || done.html.includes('class="secret"'), done.text]).toEqual([true, expect.anything()]);
    const [ofForm, ...more] = (await readAudit(before)).filter((row) => row.action === action);
    expect([ofForm?.actor, ofForm?.detail?.startsWith('console'), more]).toEqual([caller, true, []]);
  });

  test('is refused to every other role, by API and form', async () => {
    const given = await prepare();
    for (const role of ROLES.filter((one) => !mayActAs(one, ...change.roles))) {
      if (change.route) {
        const refused = await callAs(role, method, addressOf(given), given.body);
        expect([role, refused.status, refused.json.reason]).toEqual([role, 403, 'role_missing']);
      }
      if (given.form) {
        const session = await openConsoleSession(env, role);
        expect((await session.post(given.form.address, given.form.fields ?? {})).status).toBe(403);
      }
    }
  });
});

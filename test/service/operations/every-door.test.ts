/**
 * Each declared change, by each of its doors: the same row, the same audit row but for who and where, the same roles. A change
 * that is not in the table fails.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { mayActAs, ROLES, type Role } from '../../../src/access/roles.ts';
import { createToken } from '../../../src/access/tokens.ts';
import { recordUser } from '../../../src/access/users.ts';
import { sendTest } from '../../../src/callbacks/manage/send-test.ts';
import { transact } from '../../../src/database/transact.ts';
import { cancelExpected } from '../../../src/expected/cancel-expected.ts';
import { expectedFactsSchema } from '../../../src/expected/expected-fields.ts';
import { matchExpected } from '../../../src/expected/match-by-hand.ts';
import { putExpected } from '../../../src/expected/put-expected.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { adjustBooks } from '../../../src/ledger/stated/adjust-books.ts';
import { stateContract } from '../../../src/ledger/stated/commission-contracts.ts';
import { stateOpening } from '../../../src/ledger/stated/state-opening.ts';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import { issuePullToken } from '../../../src/merchants/pull-token.ts';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import { SUBJECTS } from '../../../src/operations/catalogue.ts';
import { askAddressChange } from '../../../src/portal/address-changes.ts';
import { callApi } from '../../support/call-api.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { openConsoleSession } from '../../support/open-console-session.ts';
import { makeShownTransaction, observeNow } from '../../support/read-ledger-state.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { SECRET_KEY } from '../../support/start-serve.ts';

const env = closeAfterAll(await openConsoleEnvironment({ SECRET_KEY }));
const owner = (await createToken(env.context, { name: 'Ana', role: 'operator' })).id;

/** One change by each door; a change without a route has no door of the API. `form`: its address and fields; none: the console has no such form. */
type Doors = {
  id?: string;
  /** In the place of the key that the address has. */
  path?: string;
  body?: object;
  /** None: the command line makes it otherwise. */
  command?: string[];
  form?: { address: string; fields?: Record<string, string> };
};
/** Returns what each door is given; it is called for each, since a change may be possible once alone. */
type Prepare = () => Doors | Promise<Doors>;

const SINCE = '2026-01-01T00:00:00Z';
let made = 0;
let taken = 0;
const day = () => env.today;
const platform = () => `platform-${++made}`;
const adjust = (of: string) =>
  adjustBooks(env.context, {
    ...{ platform: of, day: day(), kind: 'fee', amountCents: -150n, note: 'tariff', actor: 'test', newPlatform: true },
  });

/** A payment that is matched with nothing. */
const takePayment = async (): Promise<string> => {
  const { id } = await env.context.db
    .selectFrom('transactions')
    .select('id')
    .where('operation', '=', 'cashin')
    .where('status', '=', 'paid')
    .orderBy('seq')
    .offset(taken++)
    .limit(1)
    .executeTakeFirstOrThrow();
  return id;
};
const expectOne = async () => {
  const number = `order-${++made}`;
  const facts = expectedFactsSchema.parse({ operation: 'cashin', amount: '10.00', due_day: day() });
  const [outcome] = await putExpected(env.context, { arrivals: [{ source: 'shop', number, facts }], actor: 'test' });
  return { number, id: outcome?.id ?? '' };
};

const CHANGES: Record<string, Prepare> = {
  'expected.put': () => {
    const number = `order-${++made}`;
    const facts = ['--operation', 'cashin', '--amount', '10.00', '--due-day', day()];
    return {
      path: `shop/${number}`,
      body: { operation: 'cashin', amount: '10.00', due_day: day() },
      command: ['expected', 'add', '--source', 'shop', '--number', `${number}-2`, ...facts],
      form: {
        address: '/expected/new',
        fields: { number: `${number}-3`, operation: 'cashin', amount: '10,00', due_day: day() },
      },
    };
  },
  'expected.put_many': () => {
    const number = `order-${++made}`;
    return {
      body: { expected_payments: [{ source: 'shop', number, operation: 'cashin', amount: '10.00', due_day: day() }] },
    };
  },
  'expected.cancel': async () => {
    const { number, id } = await expectOne();
    return { path: `shop/${number}`, command: ['expected', 'cancel', id], form: { address: `/expected/${id}/cancel` } };
  },
  'expected.reopen': async () => {
    const { id } = await expectOne();
    await cancelExpected(env.context, { id, actor: 'test' });
    return {
      id,
      body: { note: 'it is due after all' },
      command: ['expected', 'reopen', id, '--note', 'it is due after all'],
      form: { address: `/expected/${id}/reopen`, fields: { note: 'it is due after all' } },
    };
  },
  'expected.match': async () => {
    const [{ id }, payment] = [await expectOne(), await takePayment()];
    const given = { transaction_id: payment, note: 'she said so' };
    return {
      id,
      body: given,
      command: ['expected', 'match', id, '--transaction-id', payment, '--note', given.note],
      form: { address: `/expected/${id}/match`, fields: given },
    };
  },
  'expected.unmatch': async () => {
    const { id } = await expectOne();
    const payment = await takePayment();
    await matchExpected(env.context, { id, transactionId: payment, actor: 'test', note: 'she said so' });
    const given = { transaction_id: payment, note: 'it was another' };
    return {
      id,
      body: given,
      command: ['expected', 'unmatch', id, '--transaction-id', payment, '--note', given.note],
      form: { address: `/expected/${id}/unmatch`, fields: given },
    };
  },
  'mismatches.assign': async () => {
    const scope = `assigned ${++made}`;
    await transact(env.context.db, (trx) => raiseMismatches(trx, [{ kind: 'stuck', scope }], new Date(SINCE)));
    const raised = env.context.db.selectFrom('mismatches').select('id').where('scope', '=', scope);
    const { id } = await raised.executeTakeFirstOrThrow();
    return {
      ...{ id, body: { owner }, command: ['mismatches', 'assign', id, '--owner', owner] },
      form: { address: `/mismatches/${id}/assign`, fields: { owner } },
    };
  },
  'openings.add': () => {
    const of = platform();
    return {
      body: { platform: of, day: day(), balance: '10.00', new_platform: true },
      command: ['open', '--platform', of, '--day', day(), '--balance', '10.00', '--new-platform'],
      form: { address: '/balances/openings/new', fields: { other_platform: of, day: day(), balance: '10,00' } },
    };
  },
  'openings.undo': async () => {
    const opening = { platform: platform(), day: day(), balanceCents: 1_000n, actor: 'test', newPlatform: true };
    const id = await stateOpening(env.context, opening);
    return {
      body: { reverses: id },
      command: ['open', '--undo', id],
      form: { address: `/balances/openings/${id}/reverse` },
    };
  },
  'adjustments.add': () => {
    const of = platform();
    return {
      body: { platform: of, day: day(), kind: 'fee', amount: '-1.50', note: 'tariff', new_platform: true },
      command: [
        ...['adjustments', 'add', '--platform', of, '--day', day(), '--kind', 'fee', '--amount', '-1.50'],
        ...['--note', 'tariff', '--new-platform'],
      ],
      form: {
        address: '/balances/adjustments/new',
        fields: { other_platform: of, day: day(), kind: 'fee_out', amount: '1,50', note: 'tariff' },
      },
    };
  },
  'adjustments.undo': async () => {
    const id = await adjust(platform());
    return {
      body: { reverses: id, note: 'typed wrong' },
      command: ['adjustments', 'undo', id, '--note', 'typed wrong'],
      form: { address: `/balances/adjustments/${id}/reverse`, fields: { note: 'typed wrong' } },
    };
  },
  'statements.add': () => {
    const [of, at] = [platform(), `${day()} 00:00:00`];
    const instant = env.context.calendar.toIso(at);
    return {
      body: { platform: of, at: instant, balance: '7.00', new_platform: true },
      command: ['statements', 'add', '--platform', of, '--at', instant, '--balance', '7.00', '--new-platform'],
      form: {
        address: '/balances/statements/new',
        fields: { other_platform: of, at: at.replace(' ', 'T'), balance: '7,00' },
      },
    };
  },
  'commissions.add': () => {
    const of = platform();
    const body = { platform: of, operation: 'cashin', fixed: '0.10', basis_points: 99, from: day() };
    const options = Object.entries(body).flatMap(([name, value]) => [`--${name.replace('_', '-')}`, String(value)]);
    // the form takes platforms with entries alone
    return { body, command: ['commissions', 'state', ...options] };
  },
  'commissions.undo': async () => {
    const contract = { platform: platform(), operation: 'cashin', from: day(), to: null, actor: 'test' } as const;
    const id = await stateContract(env.context, { ...contract, fixedCents: 10n, basisPoints: 0 });
    return { body: { withdraws: id }, command: ['commissions', 'undo', id] };
  },
  'tokens.create': () => ({
    body: { name: 'shop', role: 'viewer' },
    command: ['tokens', 'create', '--name', 'shop', '--role', 'viewer'],
  }),
  'tokens.revoke': async () => {
    const { id } = await createToken(env.context, { name: 'old', role: 'viewer' });
    return { id, command: ['tokens', 'revoke', id], form: { address: `/tokens/${id}/revoke` } };
  },
  'merchants.add': () => ({
    body: { name: 'Loja', events_since: SINCE },
    command: ['merchants', 'add', '--name', 'Loja', '--events-since', SINCE],
    form: { address: '/merchants/new', fields: { name: 'Loja' } },
  }),
  'merchants.update': async () => {
    const id = await addMerchant();
    return {
      ...{ id, body: { name: 'Nova', rate: 5 }, command: ['merchants', 'update', id, '--name', 'Nova', '--rate', '5'] },
      form: { address: `/merchants/${id}/edit`, fields: { name: 'Nova', rate: '5' } },
    };
  },
  'merchants.remove': async () => {
    const id = await addMerchant();
    return { id, command: ['merchants', 'remove', id] };
  },
  'merchants.rotate_secret': () => ofMerchant('rotate-secret'),
  'merchants.enable': () => ofMerchant('enable'),
  'merchants.pause': () => ofMerchant('pause'),
  // the command waits for a worker: merchants.test.ts
  'merchants.test': async () => {
    const { command: _, ...doors } = await ofMerchant('test');
    return doors;
  },
  'merchants.decide_address': async () => {
    const id = await addMerchant();
    const { id: tokenId } = await createToken(env.context, { name: 'portal', role: 'merchant', merchant: id });
    const asked = { kind: 'email', value: 'new@example.com', tokenId } as const;
    const body = { change: (await askAddressChange(env.context, id, asked)).id, decision: 'confirm' };
    return {
      ...{ id, body, form: { address: `/merchants/${id}/decide-address`, fields: body } },
      command: ['merchants', 'decide-address', id, '--change', body.change, '--decision', body.decision],
    };
  },
  'merchants.give_pull_token': () => ofMerchant('pull-token'),
  'merchants.revoke_pull_token': async () => {
    const id = await addMerchant();
    await issuePullToken(env.context, id, undefined);
    const form = { address: `/merchants/${id}/revoke-pull-token` };
    return { id, command: ['merchants', 'pull-token', id, '--revoke'], form };
  },
  'callbacks.redeliver': async () => {
    const { seq } = await sendTest(env.context, await addMerchant());
    const id = `cb_${seq}`;
    return { id, command: ['callbacks', 'redeliver', id], form: { address: `/callbacks/${id}/redeliver` } };
  },
  'callbacks.replay': async () => {
    const [merchant, from, to] = [await addMerchant(), '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'];
    // a form of nothing to send is refused before it is confirmed
    const { seq } = await sendTest(env.context, merchant);
    const past = {
      transaction_seq: 1,
      source: 'webhook',
      state: 'delivered',
      created_at: new Date('2026-01-01T12:00:00Z'),
    };
    await env.context.db.updateTable('callbacks').set(past).where('seq', '=', seq).execute();
    return {
      body: { merchant, from, to },
      command: ['callbacks', 'replay', '--merchant', merchant, '--from', from, '--to', to],
      form: {
        address: `/merchants/${merchant}/replay`,
        fields: { from: '2026-01-01T00:00:00', to: '2026-01-02T00:00:00', states: 'all' },
      },
    };
  },
  'reports.make': () => ({ body: { day: day() }, form: { address: '/reports', fields: { day: day() } } }),
  'jobs.run': () => ({ command: ['jobs', 'run', 'retention'] }),
  'manifests.rotate_key': () => ({ command: ['manifests', 'rotate-key'] }),
  'mismatches.acknowledge': async () => {
    const { id } = await findMismatch();
    return { id, command: ['mismatches', 'acknowledge', id], form: { address: `/mismatches/${id}/acknowledge` } };
  },
  'mismatches.resolve': async () => {
    const { id } = await findMismatch();
    return { id, body: { note: 'ours is right' }, command: ['mismatches', 'resolve', id, '--note', 'ours is right'] };
  },
  'mismatches.accept': async () => {
    const { id, actual } = await findMismatch();
    const command = ['mismatches', 'accept', id, '--note', 'they wrote', '--actual', JSON.stringify(actual)];
    return { id, body: { note: 'they wrote', actual }, command };
  },
  // the command reads the list, and waits for the provider: commands/reconcile
  'reconciliations.start': () => {
    const range = { from: day(), to: day() };
    return { body: range, form: { address: '/reconciliations', fields: range } };
  },
  // the command takes several at once, without an audit row: commands/webhooks
  'webhooks.reprocess': async () => {
    // another one for each door: one that waits already is refused
    const { webhooks } = (await env.api<{ webhooks: { id: string }[] }>('operator', 'GET', '/webhooks')).json;
    const id = webhooks[taken++ % webhooks.length]?.id ?? '';
    return { id, form: { address: `/inbox/${id}/reprocess` } };
  },
  // the command prints no list of names: commands/stated
  'platforms.name': () => {
    const named = { platform: String(env.paid.platform), name: `Loja ${++made}` };
    return { body: named, form: { address: '/balances/platforms', fields: named } };
  },
  // the command and the form take a file: reports/account-map
  'accounts.map': () => ({ body: { accounts: [{ account: 'Assets:Bank', code: `1.${++made}` }] } }),
  'bank.match': () => ({ command: ['bank', 'match'], form: { address: '/balances/bank/match' } }),
  'users.log_out': async () => {
    const id = await logIn();
    return { id, command: ['users', 'log-out', id], form: { address: `/users/${id}/log-out` } };
  },
  'users.forget': async () => {
    const id = await logIn();
    return { id, command: ['users', 'forget', id] };
  },
};

/** A payment whose amount is another by now. */
async function findMismatch(): Promise<{ id: string; actual: unknown }> {
  const row = makeShownTransaction(['paid@1']);
  for (const [seconds, amount] of ['10.00', '12.00'].entries())
    await applyObservations(env.context, [observeNow(env.context, { ...row, amount }, seconds)]);
  const address = `/mismatches?transaction_id=${row.id}`;
  type Listed = { mismatches: [{ id: string; actual: unknown }] };
  return (await env.api<Listed>('operator', 'GET', address)).json.mismatches[0];
}

async function addMerchant(): Promise<string> {
  const shop = { name: 'Loja', url: 'http://127.0.0.1:9/hook', eventsSince: new Date(SINCE) };
  return (await createMerchant(env.context, shop)).merchant.id;
}

async function ofMerchant(verb: string): Promise<Doors> {
  const id = await addMerchant();
  return { id, command: ['merchants', verb, id], form: { address: `/merchants/${id}/${verb}` } };
}

async function logIn(): Promise<string> {
  const person = { issuer: 'https://login.example/', subject: `s${++made}`, name: 'Ana', role: 'viewer' } as const;
  const seq = await recordUser(env.context, person);
  const user = env.context.db.selectFrom('users').select('id').where('seq', '=', seq);
  return (await user.executeTakeFirstOrThrow()).id;
}

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

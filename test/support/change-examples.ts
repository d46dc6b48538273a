/** An example of each declared change, by each of its doors. A new change is entered here alone: the tests of doors and of the API's document make each. */
import { createToken } from '../../src/access/tokens.ts';
import { recordUser } from '../../src/access/users.ts';
import { sendTest } from '../../src/callbacks/manage/send-test.ts';
import { transact } from '../../src/database/transact.ts';
import { cancelExpected } from '../../src/expected/cancel-expected.ts';
import { expectedFactsSchema } from '../../src/expected/expected-fields.ts';
import { matchExpected } from '../../src/expected/match-by-hand.ts';
import { putExpected } from '../../src/expected/put-expected.ts';
import { applyObservations } from '../../src/ledger/apply/apply-observations.ts';
import { adjustBooks } from '../../src/ledger/stated/adjust-books.ts';
import { stateContract } from '../../src/ledger/stated/commission-contracts.ts';
import { stateOpening } from '../../src/ledger/stated/state-opening.ts';
import { createMerchant } from '../../src/merchants/change-merchants.ts';
import { issuePullToken } from '../../src/merchants/pull-token.ts';
import { raiseMismatches } from '../../src/mismatches/raise-mismatches.ts';
import { askAddressChange } from '../../src/portal/address-changes.ts';
import type { ConsoleEnvironment } from './open-console-environment.ts';
import { makeShownTransaction, observeNow } from './read-ledger-state.ts';

/** One change by each door; a change without a route has no door of the API. `form`: its address and fields; none: the console has no such form. */
export type Doors = {
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

/** Returns the examples, by the names of the changes. */
export function listChangeExamples(env: ConsoleEnvironment): Record<string, Prepare> {
  let made = 0;
  let taken = 0;
  let owner: string | undefined;
  const day = () => env.today;
  const platform = () => `platform-${++made}`;
  const adjust = (of: string) =>
    adjustBooks(env.context, {
      ...{
        platform: of,
        day: day(),
        kind: 'fee',
        amountCents: -150n,
        note: 'tariff',
        actor: 'test',
        newPlatform: true,
      },
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

  return {
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
      return {
        path: `shop/${number}`,
        command: ['expected', 'cancel', id],
        form: { address: `/expected/${id}/cancel` },
      };
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
      owner ??= (await createToken(env.context, { name: 'Ana', role: 'operator' })).id;
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
        ...{
          id,
          body: { name: 'Nova', rate: 5 },
          command: ['merchants', 'update', id, '--name', 'Nova', '--rate', '5'],
        },
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
}

import { createHash } from 'node:crypto';
import type { Context } from '../../src/context.ts';
import { addDays, type Day } from '../../src/domain/calendar.ts';
import { splitWebhooks } from '../../src/inbox/split/split-webhooks.ts';
import { applyObservations } from '../../src/ledger/apply/apply-observations.ts';
import { createMerchant } from '../../src/merchants/change-merchants.ts';
import { indexParties } from '../../src/privacy/index-parties.ts';
import { startRun } from '../../src/reconciliation/runs/start-run.ts';
import { observe, type ShownTransaction } from './make-observations.ts';
import { openEnvironment, type TestEnvironment } from './open-environment.ts';
import { openSurfaces, type Surfaces } from './open-surfaces.ts';
import { WEBHOOK_SECRET } from './start-serve.ts';

const DAYS = 14;
const PLATFORMS = ['6f9619ff-8b86-4d01-b42d-00cf4fc964ff', 'a3bb189e-8bf9-4888-9912-ace4e6543002'];

export type ConsoleEnvironment = TestEnvironment &
  Surfaces & {
    today: Day;
    webhookSecret: string;
    /** A cashin that was paid today, whose payer is Maria. */
    paid: ShownTransaction;
    /** The transaction whose amount changed. */
    changed: ShownTransaction;
  };

/** Opens an environment with the real web side, and two weeks of a small shop's payments in its ledger. */
export async function openConsoleEnvironment(env: Record<string, string> = {}): Promise<ConsoleEnvironment> {
  const environment = await openEnvironment({ WEBHOOKS_SINCE: '2020-01-01T00:00:00Z', ...env });
  const { context } = environment;
  const surfaces = await openSurfaces(environment);
  const today = context.calendar.dayOf(context.clock.now());
  return {
    ...environment,
    ...surfaces,
    today,
    webhookSecret: WEBHOOK_SECRET,
    ...(await addShopData(context, surfaces, today)),
  };
}

async function addShopData(context: Context, surfaces: Surfaces, today: Day) {
  await createMerchant(context, { name: 'Livraria do Largo', url: 'http://127.0.0.1:9/pix?key=secret' });
  await createMerchant(context, {
    name: 'Café & Cia <b>',
    url: 'http://127.0.0.1:9/hook',
    eventsSince: new Date('2020-01-01T00:00:00Z'),
    filter: { operations: ['cashin'], reference_prefixes: ['pedido-'] },
  });
  const run = await proveDays(context, today);
  const shown = listTransactions(context, today);
  const asked = new Date(context.clock.now().getTime() - 60_000);
  const source = { kind: 'list', run, page: 3 } as const;
  await applyObservations(
    context,
    shown.map((one) => observe(one, asked, source)),
  );
  const paid = shown.find((one) => one.name === 'Maria Aparecida da Silva');
  const changed = shown.find((one) => one.operation === 'cashin' && one.status === 'paid' && one !== paid);
  if (!paid || !changed) throw new Error('the two transactions are missing in the generated ones');
  await applyObservations(context, [
    observe({ ...changed, amount: '819.00' }, context.clock.now()),
    observe({ ...changed, amount: '819.00', id: idOf('double'), name: 'Outra Pessoa' }, context.clock.now()),
  ]);
  await sendWebhooks(context, surfaces, paid);
  await indexParties(context);
  return { paid, changed };
}

function listTransactions(context: Context, today: Day): ShownTransaction[] {
  const now = context.calendar.toWallTime(context.clock.now());
  const list: ShownTransaction[] = [];
  for (let back = DAYS - 1; back >= 0; back--) {
    const day = addDays(today, -back);
    for (let number = 0; number < 6 + ((back * 5) % 9); number++) {
      const minute = `${day} ${String((number * 3) % 24).padStart(2, '0')}:${String((number * 17) % 60).padStart(2, '0')}`;
      // an event that is yet to come would be one since now
      if (`${minute}:59` < now) list.push(makeTransaction(`${day} ${number}`, `${minute}:07`, number));
    }
  }
  const at = `${today} 00:00:00`;
  const paid = { status: 'paid', date_created: at };
  return [...list, { ...makeTransaction('maria', at, 0), ...MARIA, events: [paid, { ...paid, status: 'pending' }] }];
}

const MARIA = {
  operation: 'cashin',
  status: 'paid',
  amount: '1234.56',
  commission: '12.35',
  reference: 'pedido-maria',
  extra: '<script>alert(1)</script>',
  name: 'Maria Aparecida da Silva',
  email: 'maria.aparecida@example.com',
  phone: '+5511987654321',
  document: '123.456.789-09',
  description: 'Três livros usados',
} as const;

function makeTransaction(seed: string, at: string, number: number): ShownTransaction {
  const isOut = number % 4 === 3;
  const status = ['paid', 'paid', 'refund', 'paid', 'pending', 'paid', 'expired', 'in_analysis'][number % 8] ?? 'paid';
  return {
    id: idOf(seed),
    operation: isOut ? 'cashout' : 'cashin',
    status,
    amount: `${137 * ((number * 7) % 11) + 19}.${String((number * 37) % 100).padStart(2, '0')}`,
    ...(status === 'paid' ? { commission: '0.99' } : {}),
    date_created: at,
    events: history(status, at),
    reference: `pedido-${seed.replace(' ', '-')}`,
    platform: PLATFORMS[number % 2] ?? '',
    e2e_id: `E12345678${at.slice(0, 16).replace(/\D/g, '')}${createHash('sha256').update(seed).digest('hex').slice(0, 11)}`,
    name: ['Ana Souza', 'José Carlos Pereira', 'Beatriz Nogueira de Albuquerque Cavalcanti'][number % 3] ?? '',
    document: '98765432100',
    ...(isOut ? { pix_key: '+5511912345678' } : {}),
  };
}

/** Newest first, as the provider gives it. */
function history(status: string, at: string): ShownTransaction['events'] {
  const later = (seconds: string): string => `${at.slice(0, 17)}${seconds}`;
  const first = { status: 'pending', date_created: at };
  if (status === 'pending') return [first];
  const second = { status: status === 'refund' ? 'paid' : status, date_created: later('31') };
  return status === 'refund'
    ? [{ status, date_created: later('52') }, second, first]
    : [{ ...second, date_created: at === second.date_created ? at : later('31') }, first];
}

function idOf(seed: string): string {
  const hex = createHash('sha256').update(seed).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Adds a run that read all days but the last three completely, and a run that could not prove its day. */
async function proveDays(context: Context, today: Day): Promise<{ seq: number; id: string }> {
  const now = context.clock.now();
  const range = { from: addDays(today, 1 - DAYS), to: addDays(today, -3), trigger: 'api', createdBy: 'admin' };
  const run = await startRun(context, range);
  const done = { state: 'complete', started_at: new Date(now.getTime() - 42_000), finished_at: now };
  const counts = { pages: 12, passes: 2, total: 1130, seen: 1130, applied: 97 };
  const window = { from_day: range.from, to_day: range.to, platform: null, asked_at: now };
  await context.db
    .updateTable('runs')
    .set({ ...done, ...counts })
    .where('seq', '=', run.seq)
    .execute();
  await context.db
    .insertInto('run_windows')
    .values({ run_seq: run.seq, ...window, ...counts, state: 'complete' })
    .execute();
  const other = await startRun(context, { from: today, to: today, trigger: 'command', createdBy: 'command' });
  await context.db
    .updateTable('runs')
    .set({ ...done, ...counts, state: 'incomplete', error: 'five passes, none of them clean' })
    .where('seq', '=', other.seq)
    .execute();
  return run;
}

async function sendWebhooks(context: Context, surfaces: Surfaces, paid: ShownTransaction): Promise<void> {
  const bodies = [
    JSON.stringify({ id: 30, transaction_id: paid.id, status: 'paid', extra: 'x', date_created: paid.date_created }),
    JSON.stringify({ hello: 'world', name: 'Maria Aparecida da Silva' }),
    'this is no JSON',
  ];
  for (const body of bodies) await surfaces.webhook(body);
  while ((await splitWebhooks(context, 0)).more);
}

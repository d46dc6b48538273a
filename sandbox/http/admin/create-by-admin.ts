import type { Sandbox } from '../../context.ts';
import { parseCents } from '../../domain/money.ts';
import type { Random } from '../../domain/random.ts';
import { addSeconds } from '../../domain/wall-clock.ts';
import { isAnnounced } from '../../faults/switches.ts';
import { draftTransaction } from '../../lifecycle/draft-transaction.ts';
import { planSteps } from '../../lifecycle/plan-steps.ts';
import { makeE2eId } from '../../pix/make-e2e-id.ts';
import { insertTransactions, type NewTransaction } from '../../store/insert-transactions.ts';
import { withEvents } from '../../store/read-transactions.ts';
import type { DatabaseTransaction, StoredTransaction } from '../../store/tables.ts';
import { isDuplicateKey, transact } from '../../store/transact.ts';
import { makeCharge } from '../../traffic/make-charge.ts';
import { decideFate } from '../../webhooks/decide-fate.ts';
import { enqueueWebhook } from '../../webhooks/enqueue-webhook.ts';
import { ApiError, ERROR_CODES } from '../handle-error.ts';
import { presentTransaction } from '../present-transaction.ts';
import { type AdminTransaction, adminCreationSchema, parseInput, type WebhookOption } from './admin-schemas.ts';

/** Time of a given status after the creation, if no events are given. */
const STATUS_AFTER_S = 60;

/**
 * Stores transactions as given and generates the missing fields. The checks for clients do not apply: two transactions may
 * have the same reference. Answers them as the provider shows them. Throws ApiError 422 if an id is taken.
 */
export async function createByAdmin(sandbox: Sandbox, body: unknown): Promise<{ transactions: unknown[] }> {
  const { transactions } = parseInput(adminCreationSchema, body);
  const made = transactions.map((wish) => draftByAdmin(sandbox, sandbox.random, wish));
  try {
    const stored = await transact(sandbox.db, async (trx) => {
      await insertTransactions(trx, made);
      const known = await readBack(trx, made);
      for (const [i, one] of known.entries()) await announce(sandbox, trx, one, transactions[i]?.webhook ?? false);
      return known;
    });
    sandbox.wake.webhooks();
    sandbox.wake.steps();
    const context = { settings: sandbox.settings, switches: sandbox.switches.current };
    return { transactions: stored.map((one) => presentTransaction(one, 'show', context)) };
  } catch (error) {
    if (isDuplicateKey(error)) throw new ApiError(422, ERROR_CODES.duplicate, 'One of the ids is taken.');
    throw error;
  }
}

function draftByAdmin(sandbox: Sandbox, random: Random, wish: AdminTransaction): NewTransaction {
  const { clock, switches } = sandbox;
  const { platforms } = switches.current.traffic;
  const nowMs = sandbox.now();
  const createdMs = isPast(wish) ? nowMs - STATUS_AFTER_S * 1_000 : nowMs;
  const created = wish.date_created ?? wish.events?.at(-1)?.date_created ?? clock.toWall(createdMs);
  const charge = { ...makeCharge(random, wish.operation, platforms), ...withCents(wish) };
  const plannedSteps = wish.lively ? planSteps(random, wish.operation, switches.current.lives) : [];
  const draft = { charge, createdMs: clock.toInstant(created), nowMs, plannedSteps, claimsReference: false };
  const made = draftTransaction(random, clock, switches.current, draft);
  const events = historyOf(wish, created) ?? made.events;
  const last = events.at(-1) ?? { status: 'pending', at_wall: created };
  const paid = events.find(({ status }) => status === 'paid');
  const e2e = paid === undefined ? '' : makeE2eId(random, clock.toInstant(paid.at_wall));
  const commission = wish.commission === undefined ? null : parseCents(wish.commission);
  const row = {
    ...made.row,
    ...(wish.id === undefined ? {} : { id: wish.id }),
    created_wall: created,
    updated_wall: last.at_wall,
    status: last.status,
    commission_cents: commission ?? made.row.commission_cents,
    e2e_id: wish.e2e_id ?? (made.row.e2e_id || e2e),
    pix_key: wish.operation === 'cashout' ? charge.pixKey : null,
    shown: wish.shown === undefined ? null : JSON.stringify(wish.shown),
    listed: wish.listed ? 1 : 0,
    visible: wish.visible ? 1 : 0,
  };
  return { row, events, steps: made.steps };
}

function isPast({ status }: AdminTransaction): boolean {
  return status !== undefined && status !== 'pending';
}

function withCents(wish: AdminTransaction) {
  const { name, email, phone, document, description, platform, reference, extra, pix_key, amount } = wish;
  const facts = { name, email, phone, document, description, platform, reference, extra, pixKey: pix_key };
  const given = Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
  const cents = amount === undefined ? null : parseCents(amount);
  return { ...given, ...(cents === null ? {} : { amountCents: cents }) };
}

/** Returns the given history, oldest first; undefined if none was given. */
function historyOf(wish: AdminTransaction, created: string): Array<{ status: string; at_wall: string }> | undefined {
  if (wish.events !== undefined) {
    return wish.events.map(({ status, date_created }) => ({ status, at_wall: date_created })).reverse();
  }
  if (wish.status === undefined) return undefined;
  const pending = { status: 'pending', at_wall: created };
  return wish.status === 'pending'
    ? [pending]
    : [pending, { status: wish.status, at_wall: addSeconds(created, STATUS_AFTER_S) }];
}

async function readBack(trx: DatabaseTransaction, made: readonly NewTransaction[]): Promise<StoredTransaction[]> {
  const ids = made.map(({ row }) => row.id);
  const rows = await trx.selectFrom('transactions').selectAll().where('id', 'in', ids).execute();
  const byId = new Map(rows.map((row) => [row.id, row]));
  return withEvents(
    trx,
    ids.flatMap((id) => byId.get(id) ?? []),
  );
}

async function announce(
  sandbox: Sandbox,
  trx: DatabaseTransaction,
  transaction: StoredTransaction,
  wish: WebhookOption,
): Promise<void> {
  if (wish === false || sandbox.settings.webhookUrl === undefined) return;
  const { current } = sandbox.switches;
  for (const { status, date_created } of transaction.events.toReversed()) {
    if (!isAnnounced(current, transaction.operation, status)) continue;
    const fate = wish === true ? decideFate(sandbox.random, current.webhooks) : { ...wish, delayMs: wish.delay_ms };
    await enqueueWebhook(sandbox, trx, transaction, { status, atWall: date_created }, fate);
  }
}

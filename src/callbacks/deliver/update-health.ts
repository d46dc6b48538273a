import type { Selectable, Transaction } from 'kysely';
import { audit, SYSTEM_ACTOR } from '../../access/audit.ts';
import { compileOnce } from '../../database/compile-once.ts';
import type { Database } from '../../database/tables.ts';
import { HEALTHY } from '../../merchants/change-merchants.ts';
import { DISABLED } from '../../merchants/disabled-reasons.ts';
import { TEST_SOURCE } from '../health/callback-sources.ts';
import { afterFailure, holdsBack, type MerchantHealth, NO_FAILURES, shouldDisable } from '../health/merchant-health.ts';
import { isDelivered, isFailure } from './decide-outcome.ts';
import type { Attempt } from './send-attempt.ts';

/** Health after the attempts of the merchants that failed before or now, by row number. */
export type UpdatedHealth = Map<number, { holdsBack: boolean; failingSince: Date | null }>;

/**
 * Applies attempts to the health of their merchants, in the order in which they ended. Merchants are locked before
 * callbacks, everywhere. A merchant with only successes is locked only if it had been failing. Another address than the
 * merchant's URL says nothing of its health.
 */
export async function updateHealth(trx: Transaction<Database>, attempts: Attempt[], now: Date): Promise<UpdatedHealth> {
  const after: UpdatedHealth = new Map();
  const own = attempts.filter(({ elsewhere }) => elsewhere === undefined);
  if (own.length < attempts.length) await dropOldUrls(trx, attempts);
  if (own.length === 0) return after;
  const byMerchant = Map.groupBy(own, ({ callback }) => callback.merchantSeq);
  for (const row of await lockMerchants(trx, byMerchant)) {
    const list = byMerchant.get(row.seq) ?? [];
    const health = list.reduce((before, attempt) => applyAttempt(before, attempt, now), toHealth(row));
    const isGone = list.some(
      ({ callback, response }) => response.errorClass === 'gone' && callback.source !== TEST_SOURCE,
    );
    const last = list.findLast(({ callback, response }) => callback.source !== TEST_SOURCE && isFailure(response));
    const failed = last && { last_failed_callback: last.callback.seq };
    const set = { ...changeMerchant(row, health, { isGone, now }), ...failed };
    await trx.updateTable('merchants').set(set).where('seq', '=', row.seq).execute();
    await auditChange(trx, row, set, now);
    after.set(row.seq, { holdsBack: holdsBack({ ...row, ...set }), failingSince: health.failingSince });
  }
  return after;
}

/** A URL before that did not take a message gets no more of them: they go to the one of now. */
async function dropOldUrls(trx: Transaction<Database>, attempts: Attempt[]): Promise<void> {
  const failed = attempts.filter(({ elsewhere, response }) => elsewhere === 'before' && isFailure(response));
  if (failed.length === 0) return;
  const seqs = failed.map(({ callback }) => callback.merchantSeq);
  await trx.updateTable('merchants').set({ old_url: null }).where('seq', 'in', seqs).execute();
}

type MerchantRow = Selectable<Database['merchants']>;
type MerchantChange = Pick<MerchantRow, 'failures' | 'failing_since' | 'breaker_opened_at' | 'probe_at'> &
  Partial<Pick<MerchantRow, 'state' | 'disabled_reason' | 'warned_at' | 'recovered_at'>>;

async function lockMerchants(trx: Transaction<Database>, byMerchant: Map<number, Attempt[]>): Promise<MerchantRow[]> {
  const failed = [...byMerchant].filter(([, list]) => list.some((one) => isFailure(one.response))).map(([seq]) => seq);
  return (await selectTroubled(trx, { seqs: [...byMerchant.keys()], failed: [0, ...failed] })).rows;
}

const selectTroubled = compileOnce((db, { seqs, failed }: { seqs: number[]; failed: number[] }) =>
  db
    .selectFrom('merchants')
    .selectAll()
    .where('seq', 'in', seqs)
    .where((eb) =>
      eb.or([eb('failing_since', 'is not', null), eb('warned_at', 'is not', null), eb('seq', 'in', failed)]),
    )
    .orderBy('seq')
    .forUpdate(),
);

function toHealth(row: MerchantRow): MerchantHealth {
  return {
    failures: row.failures,
    failingSince: row.failing_since,
    breakerOpenedAt: row.breaker_opened_at,
    probeAt: row.probe_at,
  };
}

// a failed test or manifest does not count as a failure (410 to a test neither); a successful one counts as a success
function applyAttempt(health: MerchantHealth, { callback, response }: Attempt, now: Date): MerchantHealth {
  if (isDelivered(response)) return NO_FAILURES;
  return callback.transactionSeq === null || !isFailure(response) ? health : afterFailure(health, now);
}

/** Records in the audit what the attempts alone changed: the merchant reads it in its history. */
async function auditChange(
  trx: Transaction<Database>,
  row: MerchantRow,
  set: MerchantChange,
  now: Date,
): Promise<void> {
  const wasOpen = row.breaker_opened_at !== null;
  const action =
    set.state === 'disabled'
      ? 'merchant.disabled'
      : wasOpen === (set.breaker_opened_at !== null)
        ? undefined
        : wasOpen
          ? 'merchant.breaker_closed'
          : 'merchant.breaker_opened';
  if (action === undefined) return;
  const detail = set.disabled_reason === DISABLED.gone ? 'gone' : 'failing';
  const done = { actor: SYSTEM_ACTOR, action, target: row.id, ...(set.state === 'disabled' && { detail }) };
  await audit({ db: trx, clock: { now: () => now } }, done);
}

/** Resets `warned_at` when a merchant becomes disabled: that gets an alert of its own, besides the one about failing. */
function changeMerchant(
  row: MerchantRow,
  health: MerchantHealth,
  facts: { isGone: boolean; now: Date },
): MerchantChange {
  const columns = {
    failures: health.failures,
    failing_since: health.failingSince,
    breaker_opened_at: health.breakerOpenedAt,
    probe_at: health.probeAt,
  };
  if (facts.isGone && row.state !== 'disabled') {
    return { ...columns, state: 'disabled', disabled_reason: DISABLED.gone, warned_at: null };
  }
  if (health === NO_FAILURES) return row.state === 'enabled' ? { ...HEALTHY, ...recover(row, facts.now) } : HEALTHY;
  if (row.state === 'enabled' && shouldDisable(health, facts.now)) {
    return { ...columns, state: 'disabled', disabled_reason: DISABLED.failing, warned_at: null };
  }
  return columns;
}

/** The recovery stays recorded in the merchant's row until its notification is sent. */
function recover(row: MerchantRow, now: Date): Pick<MerchantRow, 'warned_at' | 'recovered_at'> {
  return { warned_at: null, recovered_at: row.warned_at ? now : row.recovered_at };
}

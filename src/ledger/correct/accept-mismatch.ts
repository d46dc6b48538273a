/**
 * Accepts the provider's version of a mismatch, on a person's decision: another amount, operation, commission,
 * reference or platform, or a history without an event. Nothing is deleted: the entries in force are reversed at their
 * own time and the right ones posted, an event out of force is a row in a table of its own, and each merchant that was
 * notified of the transaction is notified of the correction.
 */

import type { Transaction } from 'kysely';
import { enqueueCorrection } from '../../callbacks/queue/enqueue-callbacks.ts';
import type { Context } from '../../context.ts';
import { requireRowNumber } from '../../database/require-row-number.ts';
import { leaveExpectedWork } from '../../database/shared/leave-expected-work.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { webhookIdOf } from '../../domain/ids.ts';
import type { Source } from '../../domain/observation.ts';
import type { StoredEvent } from '../../domain/sort-history.ts';
import { findClosedDays } from '../../mismatches/find-closed-days.ts';
import { raiseMismatches } from '../../mismatches/raise-mismatches.ts';
import {
  type Decision,
  lockUnresolvedMismatch,
  noteOf,
  requireSeen,
  wasResolved,
} from '../../mismatches/resolve-mismatch-by-hand.ts';
import { resolveMismatches, setResolved } from '../../mismatches/resolve-mismatches.ts';
import { refuse } from '../../texts/refuse.ts';
import { compareReferences } from '../apply/compare-references.ts';
import { type LoadedTransaction, loadStoredTransactions } from '../apply/load-stored-transactions.ts';
import { writeCorrection } from '../apply/write-correction.ts';
import { deleteDoubts } from '../apply/write-doubts.ts';
import { writeTransactions } from '../apply/write-transactions.ts';
import { ACCEPTABLE_KINDS, correctTransaction, isAcceptableKind } from '../decide/correct-transaction.ts';
import { countUsedSequences, type StoredTransaction } from '../decide/stored-transaction.ts';
import { diffEntries } from '../journal/diff-entries.ts';
import { planCommission, planEntries } from '../journal/plan-entries.ts';
import { readPolicies } from '../journal/read-policies.ts';
import { writeEntries } from '../journal/write-entries.ts';

/** Equal to no observation's digest, so the next observation is applied in full. */
const NO_DIGEST = Buffer.alloc(32);

/**
 * @throws ConfereError `not_found`; `conflict` when the mismatch is resolved, its kind cannot be accepted, its evidence
 *   does not say what to book, the books have that value already, or `by.actual` (the evidence that the person saw)
 *   differs from the current evidence.
 */
export async function acceptMismatch(context: Context, id: string, by: Decision): Promise<void> {
  let endedAt: Date | undefined;
  await transact(
    context.db,
    async (trx) => {
      if (endedAt && (await wasResolved(trx, id, { actor: by.actor, at: endedAt }))) return;
      const named = await trx.selectFrom('mismatches').select('transaction_id').where('id', '=', id).executeTakeFirst();
      if (!named) throw refuse('mismatch_unknown');
      // lock the transaction first, in the order of an applier: this prevents deadlocks
      const { transaction_id: about } = named;
      const loaded = about === null ? undefined : (await loadStoredTransactions(trx, [about])).get(about);
      const mismatch = await lockUnresolvedMismatch(trx, id);
      if (!loaded || !isAcceptableKind(mismatch.kind)) {
        throw refuse('mismatch_not_acceptable', { kinds: ACCEPTABLE_KINDS.join(', ') });
      }
      requireSeen(mismatch, by);
      const after = correctTransaction(loaded.stored, mismatch.kind, JSON.parse(mismatch.actual ?? 'null'));
      await correct(context, trx, { loaded, after, mismatchSeq: mismatch.seq, actor: by.actor });
      const end = { resolution: 'accepted', note: noteOf(by), actor: by.actor };
      const now = context.clock.now();
      endedAt = now;
      await setResolved(trx, mismatch.seq, end, now);
    },
    { retryDuplicates: true },
  );
  context.wakeUps.callbacks.notify();
  context.wakeUps.alerts.notify();
}

type Correction = { loaded: LoadedTransaction; after: StoredTransaction; mismatchSeq: number; actor: string };

async function correct(context: Context, trx: Transaction<Database>, correction: Correction): Promise<void> {
  const now = context.clock.now();
  const { loaded, mismatchSeq } = correction;
  const { seq } = loaded;
  const sequence = countUsedSequences(loaded.stored) + 1;
  const corrections = { count: (loaded.stored.corrections?.count ?? 0) + 1, sequence, acceptedAt: now };
  const after = { ...correction.after, corrections, digest: NO_DIGEST };
  const source = await readSource(trx, mismatchSeq);
  const { forgotten } = loaded;
  const changes = [{ loaded, after, added: [], source, forgotten }];
  await writeTransactions(context, trx, { changes, seqs: new Map([[after.id, seq]]) }, now);
  const inForceChanged = listInForceChanges(loaded.stored, after);
  const changedSeqs = inForceChanged.map((event) => requireRowNumber(event.seq, 'a known event'));
  await leaveExpectedWork(trx, [{ transaction_seq: seq }], now);
  if (changedSeqs.length > 0) await deleteDoubts(trx, changedSeqs);
  const content = await writeCorrection(context, trx, { ...correction, after, inForceChanged }, now);

  const policies = await readPolicies(context, trx);
  const desired = planEntries(after, after.events, policies.forPlatform(after.platform));
  const diff = diffEntries(desired, loaded.entries, (platform) => planCommission(after, platform));
  await writeEntries(context, trx, [{ transactionSeq: seq, source, ...diff }], now);
  await enqueueCorrection(context, trx, { seq, sequence, content, before: loaded.stored, after, concerns: 'either' });

  const references = await compareReferences(context, trx, [{ before: loaded.stored, after, added: after.events }]);
  // an event that moved no money still counts in its day's report
  const moved = [...diff.reverse, ...diff.post, ...inForceChanged];
  const moments = moved.map(({ atWall }) => ({ atWall, runSeq: undefined }));
  const closed = await findClosedDays(context, trx, moments);
  await raiseMismatches(trx, [...references.found, ...closed], now);
  await resolveMismatches(trx, references.resolved, 'fresh_evidence', now);
}

/** Returns events that a correction took out of force, or put back in force. */
function listInForceChanges(before: StoredTransaction, after: StoredTransaction): StoredEvent[] {
  return [...before.events, ...before.outOfForce].filter(
    (event) => before.outOfForce.includes(event) !== after.outOfForce.includes(event),
  );
}

/** Returns the source of the accepted evidence. */
async function readSource(trx: Transaction<Database>, mismatchSeq: number): Promise<Source> {
  const row = await trx
    .selectFrom('mismatches')
    .leftJoin('runs', 'runs.seq', 'mismatches.run_seq')
    .leftJoin('webhooks', 'webhooks.seq', 'mismatches.webhook_seq')
    .select(['run_seq', 'runs.id as run_id', 'webhook_seq', 'webhooks.hash as webhook_hash'])
    .where('mismatches.seq', '=', mismatchSeq)
    .executeTakeFirstOrThrow();
  if (row.webhook_seq !== null && row.webhook_hash) {
    return { kind: 'webhook', webhook: { seq: row.webhook_seq, id: webhookIdOf(row.webhook_hash) } };
  }
  if (row.run_seq !== null && row.run_id !== null) return { kind: 'show', run: { seq: row.run_seq, id: row.run_id } };
  return { kind: 'show' };
}

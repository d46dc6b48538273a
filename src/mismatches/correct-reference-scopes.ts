/**
 * Corrects what earlier versions stored of a `duplicate_reference`: the reference itself in the scope of the mismatch, and
 * in the scope and summary of its alert. Also firing alerts of other mismatches whose scope contains a document.
 */
import type { Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { formatAmount } from '../domain/money.ts';
import { scopeForAlerts } from './alert-mismatches.ts';
import { mismatchKey, SYSTEM_ACTOR, setResolved } from './resolve-mismatches.ts';
import { scopeOfReference } from './scope-of-reference.ts';

const BATCH_ROWS = 100;
const KIND = 'duplicate_reference';
/** Scopes of earlier versions start with this. `;` follows `:` in byte order. */
const [PREFIX, BEFORE] = ['reference:', 'reference;'];
/** The start of a shared alert's summary; the scope of one mismatch follows, up to the end. */
const SHARED = /^duplicate_reference: \d+ of one cause \([^)]*\)(?:, R\$ [\d.,]+)?/;

/**
 * Corrects all remaining rows. `serve` calls it before its loops: otherwise an open mismatch would be raised again under
 * its new scope. Each batch is committed by itself; after a kill a later call continues. Called again, it finds nothing.
 */
export async function correctReferenceScopes(context: Context): Promise<void> {
  let count = 0;
  for (const correct of [correctFiringAlerts, correctAlerts, correctMismatches]) {
    let corrected: number;
    do {
      context.signal.throwIfAborted();
      corrected = await transact(context.db, (trx) => correct(context, trx), { retryDuplicates: true });
      count += corrected;
    } while (corrected > 0);
  }
  if (count > 0) context.log.warn({ rows: count }, 'removed references from the scopes of mismatches and alerts');
}

/** Before the mismatches: the alert of a single mismatch has the scope of the mismatch. */
async function correctFiringAlerts(_: Context, trx: Transaction<Database>): Promise<number> {
  const rows = await trx
    .selectFrom('alerts')
    .innerJoin('mismatches', 'mismatches.id', 'alerts.mismatch_id')
    .select(['alerts.seq', 'mismatches.id', 'kind', 'mismatches.scope', 'amount_cents as amountCents'])
    .select('mismatches.transaction_id as transactionId')
    .where('firing_scope', 'is not', null)
    .whereRef('alerts.scope', '=', 'mismatches.scope')
    .execute();
  const wrong = rows.filter((row) => scopeForAlerts(row) !== row.scope);
  for (const row of wrong) {
    const scope = scopeForAlerts(row);
    const summary = `${row.kind}: mismatch ${row.id}${describeStake(row.amountCents)}`;
    await trx
      .updateTable('alerts')
      .set({ scope, firing_scope: mismatchKey({ kind: row.kind, scope }), summary })
      .where('seq', '=', row.seq)
      .execute();
  }
  return wrong.length;
}

/** Corrects alerts that ended, and summaries of alerts that several mismatches share. */
async function correctAlerts(_: Context, trx: Transaction<Database>): Promise<number> {
  const rows = await trx
    .selectFrom('alerts')
    .leftJoin('mismatches', 'mismatches.id', 'alerts.mismatch_id')
    .select(['alerts.seq', 'alerts.scope', 'summary', 'mismatch_id', 'amount_cents'])
    .where('name', '=', KIND)
    .where((eb) =>
      eb.or([
        eb('alerts.scope', 'like', `${PREFIX}%`),
        eb('summary', 'like', `${KIND}: ${PREFIX}%`),
        eb('summary', 'like', `%; one of them: ${PREFIX}%`),
      ]),
    )
    .limit(BATCH_ROWS)
    .execute();
  for (const { seq, scope, summary, mismatch_id: id, amount_cents: cents } of rows) {
    const isOwn = scope.startsWith(PREFIX);
    const shared = SHARED.exec(summary)?.[0];
    await trx
      .updateTable('alerts')
      .set({
        scope: isOwn ? `${id ?? seq}` : scope,
        summary: shared ?? `${KIND}: mismatch ${id ?? 'unknown'}${describeStake(cents)}`,
      })
      .where('seq', '=', seq)
      .execute();
  }
  return rows.length;
}

async function correctMismatches({ keys, clock }: Context, trx: Transaction<Database>): Promise<number> {
  const rows = await trx
    .selectFrom('mismatches')
    .select(['seq', 'scope', 'reference', 'open_scope', 'kept_scope'])
    .where('kind', '=', KIND)
    .where('scope', '>=', PREFIX)
    .where('scope', '<', BEFORE)
    .orderBy('seq')
    .limit(BATCH_ROWS)
    .forUpdate()
    .execute();
  for (const { seq, reference, open_scope, kept_scope, ...row } of rows) {
    const scope = scopeOfReference(keys, reference ?? row.scope.slice(PREFIX.length));
    const key = mismatchKey({ kind: KIND, scope });
    // a replica of the new version may have raised the mismatch while one of the old version still ran
    const isKnown = open_scope !== null && (await isOpen(trx, key));
    if (isKnown) {
      const end = { resolution: 'revised', note: null, actor: SYSTEM_ACTOR };
      await setResolved(trx, seq, end, clock.now());
    }
    await trx
      .updateTable('mismatches')
      .set({
        scope,
        ...(open_scope === null || isKnown ? {} : { open_scope: key }),
        ...(kept_scope === null ? {} : { kept_scope: key }),
      })
      .where('seq', '=', seq)
      .execute();
  }
  return rows.length;
}

async function isOpen(trx: Transaction<Database>, key: string): Promise<boolean> {
  return (
    (await trx.selectFrom('mismatches').select('seq').where('open_scope', '=', key).executeTakeFirst()) !== undefined
  );
}

const describeStake = (cents: bigint | null): string => (cents === null ? '' : `, R$ ${formatAmount(cents)}`);

import { auditChange } from '../access/audit.ts';
import type { Context } from '../context.ts';
import { transact } from '../database/transact.ts';
import type { MismatchKind } from '../domain/mismatch.ts';
import { UNRESOLVED_STATES } from '../domain/mismatch.ts';
import { refuse } from '../texts/refuse.ts';
import { type ActorNote, noteOf, requireReason, setAcknowledged } from './resolve-mismatch-by-hand.ts';
import { setResolved } from './resolve-mismatches.ts';

/** Limit of ids in one call, and of mismatches that one call resolves. */
export const RESOLVED_MAX = 500;
/** Mismatches of one database transaction, which locks their rows. */
const BATCH_ROWS = 50;

/** Either `ids`, or all of a kind: opened before `openedBefore` (now), and of one cause, which is the scope of its alert. */
export type Selection =
  | { ids: string[] }
  | { kind: MismatchKind; cause?: string | undefined; openedBefore?: Date | undefined };

/**
 * Resolves many mismatches with one note, the oldest first; the books do not change. Each batch is one transaction with its
 * row in the audit, which lists the ids. Repeated, the call finds what is left: resolved ones are skipped.
 * @returns how many it resolved, and whether more are left than one call resolves.
 * @throws ConfereError `not_found` for an unknown id; `invalid_request` where a critical one is selected without a note.
 */
export async function resolveMany(
  context: Context,
  selection: Selection,
  by: ActorNote,
): Promise<{ resolved: number; more: boolean }> {
  if (await includesCritical(context, bound(context, selection))) requireReason(by);
  const { handled, more } = await handleMany(context, selection, { ...by, action: 'resolve' });
  return { resolved: handled, more };
}

/** Acknowledges many open mismatches with one note, as `resolveMany` resolves them. @throws ConfereError `not_found`. */
export async function acknowledgeMany(
  context: Context,
  selection: Selection,
  by: ActorNote,
): Promise<{ acknowledged: number; more: boolean }> {
  const { handled, more } = await handleMany(context, selection, { ...by, action: 'acknowledge' });
  return { acknowledged: handled, more };
}

type By = ActorNote & { action: 'resolve' | 'acknowledge' };

function bound(context: Context, selection: Selection): Bounded {
  const openedBefore = ('ids' in selection ? undefined : selection.openedBefore) ?? context.clock.now();
  return { ...selection, openedBefore };
}

async function handleMany(context: Context, selection: Selection, by: By): Promise<{ handled: number; more: boolean }> {
  let before = bound(context, selection);
  const states = by.action === 'resolve' ? UNRESOLVED_STATES : ['open'];
  if ('ids' in before) await requireKnown(context, before.ids);
  let handled = 0;
  while (handled < RESOLVED_MAX) {
    const target = 'ids' in before ? 'ids' : `${before.kind}${before.cause === undefined ? '' : ` ${before.cause}`}`;
    const asked = before;
    const { ids, isLast, openedBefore } = await auditChange(
      context,
      async (inner) => ({ ...(await handleBatch(inner, asked, states, by)), openedBefore: asked.openedBefore }),
      (done) =>
        done.ids.length === 0
          ? undefined
          : {
              ...{ actor: by.actor, action: `mismatches.${by.action}_many`, target },
              detail: JSON.stringify({ mismatches: done.ids }),
            },
    );
    if (isLast) break;
    // of the first request, where this one continues it
    before = { ...before, openedBefore };
    handled += ids.length;
  }
  if (handled > 0) context.wakeUps.alerts.notify();
  const left = await selectOpen(context, before, states).limit(1).executeTakeFirst();
  return { handled, more: left !== undefined };
}

type Bounded = Selection & { openedBefore: Date };

function selectOpen({ db }: Pick<Context, 'db'>, selection: Bounded, states = UNRESOLVED_STATES) {
  let query = db
    .selectFrom('mismatches')
    .select('mismatches.seq')
    .where('state', 'in', states)
    .where('opened_at', '<=', selection.openedBefore);
  if ('ids' in selection) return query.where('id', 'in', selection.ids);
  query = query.where('kind', '=', selection.kind);
  if (selection.cause === undefined) return query;
  return query
    .innerJoin('mismatch_causes', 'mismatch_causes.mismatch_seq', 'mismatches.seq')
    .where('alert_name', '=', selection.kind)
    .where('alert_scope', '=', selection.cause);
}

async function requireKnown({ db }: Context, ids: string[]): Promise<void> {
  const rows = await db.selectFrom('mismatches').select('id').where('id', 'in', ids).execute();
  const known = new Set(rows.map(({ id }) => id));
  const unknown = ids.filter((id) => !known.has(id)).length;
  if (unknown > 0) throw refuse('mismatches_unknown', { unknown, n: ids.length });
}

async function includesCritical(context: Context, selection: Bounded): Promise<boolean> {
  const critical = await selectOpen(context, selection).where('severity', '=', 'critical').limit(1).executeTakeFirst();
  return critical !== undefined;
}

/** Handles the oldest of a selection that are still open. @returns their ids, and whether there were none. */
async function handleBatch(
  { db, clock }: Pick<Context, 'db' | 'clock'>,
  selection: Bounded,
  states: string[],
  by: By,
): Promise<{ ids: string[]; isLast: boolean }> {
  return await transact(db, async (trx) => {
    const found = selectOpen({ db: trx }, selection, states).orderBy('mismatches.seq').limit(BATCH_ROWS);
    const seqs = (await found.execute()).map(({ seq }) => seq);
    if (seqs.length === 0) return { ids: [], isLast: true };
    const rows = await trx
      .selectFrom('mismatches')
      .select(['seq', 'id'])
      .where('seq', 'in', seqs)
      .where('state', 'in', states)
      .orderBy('seq')
      .forUpdate()
      .execute();
    const now = clock.now();
    const end = { resolution: 'by_hand', note: noteOf(by), actor: by.actor };
    if (by.action === 'acknowledge') await setAcknowledged(trx, rows, by, now);
    else for (const { seq } of rows) await setResolved(trx, seq, end, now);
    return { ids: rows.map(({ id }) => id), isLast: false };
  });
}

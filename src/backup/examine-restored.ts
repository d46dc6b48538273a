/** `confere doctor --restored`: what a restore lost, what is read again, and what waits for a person. */
import type { Context } from '../context.ts';
import type { Restore } from '../database/restores.ts';
import { wrongUse } from '../domain/errors.ts';
import { countSegments } from '../inbox/spool/redact-retained-files.ts';
import { BREAKS_SHOWN_MAX, checkBooks, describeCheck } from '../proof/check-books.ts';
import { verifyRecorded } from '../proof/verify-anchors.ts';
import { parseCheckpoint } from '../tlog/note.ts';
import { describeRestoredLog, findLost, readKnownOrigins, readRestoredLogs } from '../tlog/origins.ts';
import { readRecorded, recordedDirectories } from '../tlog/recorded.ts';
import { findGapRun, findLastRestore, GAP_RUN, LATE_RUN, queueGapRuns, recordRestore } from './record-restore.ts';

/** `waits`: not known yet, and nothing is wrong so far. */
export type RestoreFinding = { check: string; ok: boolean; waits?: true; says: string };

export type ExamineOptions = {
  /** The instant of the backup, if it was not restored by `confere restore`: then the restore is recorded now. */
  since?: Date | undefined;
  /** A directory with checkpoints of the lost machine. */
  manifests?: string | undefined;
};

/**
 * Examines the newest restore. It records it, if `since` is given, and queues the runs over the gap once.
 * @throws ConfereError `wrong_use` if no restore is recorded and `since` is not given.
 */
export async function examineRestored(
  context: Context,
  { since, manifests }: ExamineOptions,
): Promise<RestoreFinding[]> {
  const restore = since ? await recordRestore(context, since) : await findLastRestore(context.db);
  if (!restore)
    throw wrongUse(
      'no restore of this database is recorded: name the instant of the backup with --since, such as 2026-11-21T03:00:00Z',
    );
  await queueGapRuns(context, restore);
  return [
    describeGap(context, restore),
    await examineBooks(context),
    await compareChain(context, restore, manifests),
    ...(await describeLog(context)),
    describeSpool(context),
    await describeRun(context, restore, { check: 'list', trigger: GAP_RUN, reads: 'the days of the gap, whole' }),
    await describeRun(context, restore, { check: 'older', trigger: LATE_RUN, reads: 'the 96 days before, by counts' }),
    describePeople(restore),
    await describeCallbacks(context, restore),
  ];
}

function describeGap({ clock }: Context, { gap_from, gap_to }: Restore): RestoreFinding {
  const hours = ((gap_to ?? clock.now()).getTime() - gap_from.getTime()) / 3_600_000;
  const until = gap_to ? gap_to.toISOString() : 'the first webhook, or the confirmation';
  const says = `${gap_from.toISOString()} to ${until} (${hours.toFixed(1)} h): webhooks of it may be missing, and none is called lost`;
  return { check: 'gap', ok: true, says };
}

/** Checks the whole books of the restored database, also against the checkpoints of the backup. */
export async function examineBooks(context: Context): Promise<RestoreFinding> {
  return { check: 'books', ...describeCheck(await checkBooks(context)) };
}

/** The books check has compared this machine's checkpoints already; those of another directory are compared here. */
export async function compareChain(
  context: Context,
  { head_position, restored_at }: Restore,
  manifests: string | undefined,
): Promise<RestoreFinding> {
  const says: string[] = [];
  if (manifests !== undefined) {
    await verifyRecorded(context, (one) => says.push(`${one.scope}: ${one.says}`), manifests);
    if (says.length > 0) return { check: 'chain', ok: false, says: says.slice(0, BREAKS_SHOWN_MAX).join('; ') };
  }
  const origins = await readKnownOrigins(context.db);
  const recorded = await readRecorded(context.config, manifests);
  const lost = recorded.flatMap(({ file, notes }) =>
    notes.flatMap((note) => {
      const checkpoint = parseCheckpoint(note);
      const next = checkpoint && findLost(origins, checkpoint);
      return next ? [{ file, size: checkpoint.size, from: next.from_size }] : [];
    }),
  );
  const [furthest] = lost.sort((a, b) => b.size - a.size);
  const kept = `the backup ends at position ${head_position}`;
  const where = manifests ?? recordedDirectories(context.config).join(' and ');
  return {
    check: 'chain',
    ok: true,
    says: furthest
      ? `${kept}; ${furthest.size - furthest.from} leaves of the log are missing: ${furthest.file} names ${furthest.size}`
      : recorded.length === 0
        ? `${kept}; ${where} has no checkpoints: whether there were later ones is unknown`
        : `${kept}; nothing in ${where} names a later one before ${restored_at.toISOString()}`,
  };
}

async function describeLog({ db }: Context): Promise<RestoreFinding[]> {
  const log = (await readRestoredLogs(db)).at(-1);
  return log ? [{ check: 'log', ok: true, says: describeRestoredLog(log) }] : [];
}

function describePeople({ gap_from, confirmed_at }: Restore): RestoreFinding {
  const undone = `what people did after ${gap_from.toISOString()} (tokens revoked, people forgotten, merchants, balances)`;
  const says = confirmed_at
    ? `${undone} was undone, until somebody did it again`
    : `${undone} is undone: do it again, see docs/backup.md`;
  return { check: 'people', ok: true, says };
}

function describeSpool({ config }: Context): RestoreFinding {
  const count = countSegments(config);
  const says = count === 0 ? 'no segments wait' : `${count} segments wait for serve, which moves them into the inbox`;
  return { check: 'spool', ok: true, says };
}

async function describeRun(
  context: Context,
  restore: Restore,
  { check, trigger, reads }: { check: string; trigger: string; reads: string },
): Promise<RestoreFinding> {
  const run = await findGapRun(context, restore, trigger);
  if (!run) return { check, ok: false, says: 'no run was started' };
  const waits = run.state === 'queued' || run.state === 'running';
  const ended = run.state === 'complete' ? '' : run.error ? `: ${run.error}` : ': a worker of serve reads them';
  return {
    check,
    ok: waits || run.state === 'complete',
    ...(waits && { waits }),
    says: `${run.id} reads ${run.from_day} to ${run.to_day} (${reads}): ${run.state}${ended}`,
  };
}

async function describeCallbacks({ db }: Context, { confirmed_at }: Restore): Promise<RestoreFinding> {
  if (confirmed_at)
    return { check: 'callbacks', ok: true, says: `sent since the confirmation of ${confirmed_at.toISOString()}` };
  const { count } = await db
    .selectFrom('callbacks')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('state', 'in', ['pending', 'held'])
    .executeTakeFirstOrThrow();
  const says = `${Number(count)} are held. Confirm with: confere doctor --restored --confirm`;
  return { check: 'callbacks', ok: true, says };
}

/**
 * Submits each checkpoint to the witnesses (tlog-witness of C2SP), with the proof that the log has only grown since the one that
 * a witness saw last, and stores their cosignatures. A witness that is away delays nothing: after an hour it is an alert. One that
 * refuses our history is critical.
 */
import { type Dispatcher, request } from 'undici';
import { syncAlerts } from '../alerts/raise-alerts.ts';
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import { ignoreDuplicate } from '../database/transact.ts';
import { describeError } from '../log.ts';
import { createWakeSignal, runWorkerLoop } from '../runtime/wake-signal.ts';
import { summarize } from '../texts/alerts/describe-alert.ts';
import { readNewestCheckpoint, type StoredCheckpoint } from './checkpoints.ts';
import { proveConsistency } from './merkle.ts';
import { findCosignature, parseSignatures } from './note.ts';
import { type RestoredLog, readOrigin, readOrigins } from './origins.ts';
import { openTree } from './tree.ts';
import { listWitnesses, type Witness } from './witness-list.ts';

const SUBMIT_EVERY_MS = 20_000;
const TIMEOUT_MS = 10_000;
const ANSWER_CHARS_MAX = 16_384;
const AWAY_MS = 3_600_000;
/** A witness that saw another size than we think names it; another process may submit at the same time. */
const ATTEMPTS_MAX = 3;

/** `refused`: the history that it saw is not ours. */
type Outcome = { line: string } | { refused: string } | { failed: string } | 'behind';

/** Submits checkpoints until the signal. */
export async function submitCheckpoints(context: Context): Promise<void> {
  await runWorkerLoop({
    name: 'witnesses',
    work: async () => {
      await submitNewest(context);
      return false;
    },
    wakeUp: createWakeSignal(context.timers),
    idleMs: SUBMIT_EVERY_MS,
    context,
  });
}

/**
 * Submits the newest checkpoint to each witness that did not countersign it.
 * @returns whether enough of them have countersigned it.
 */
export async function submitNewest(context: Context): Promise<boolean> {
  const { db, config } = context;
  const witnesses = listWitnesses(config);
  const checkpoint = await readNewestCheckpoint(db, await readOrigin(context));
  if (!checkpoint) return false;
  const signed = await Promise.all(witnesses.map((witness) => submitTo(context, witness, checkpoint)));
  await alertWitnesses(context, witnesses);
  return signed.filter(Boolean).length >= config.WITNESSES.quorum;
}

/** Asks whether enough witnesses still accept the newest checkpoint as the newest one that they saw, and none refuses it. Stores nothing. */
export async function askWitnesses(context: Context): Promise<RestoredLog['verdict']> {
  const { db, config } = context;
  const witnesses = listWitnesses(config);
  const origin = (await readOrigins(db)).at(-1);
  const checkpoint = origin && (await readNewestCheckpoint(db, origin));
  if (!checkpoint || witnesses.length === 0) return 'none';
  const submission: Submission = { checkpoint, old: checkpoint.size, isKnown: true };
  const outcomes = await Promise.all(witnesses.map((witness) => submit(context, witness, submission)));
  if (outcomes.some((outcome) => outcome !== 'behind' && 'refused' in outcome)) return 'refused';
  const lines = outcomes.filter((outcome) => outcome !== 'behind' && 'line' in outcome);
  return lines.length >= config.WITNESSES.quorum ? 'accepted' : 'away';
}

async function submitTo(context: Context, witness: Witness, checkpoint: StoredCheckpoint): Promise<boolean> {
  const { db, clock, log } = context;
  const submitted = await readSubmitted(db, witness);
  if (submitted?.seq === checkpoint.seq) return true;
  const outcome = await submit(context, witness, { checkpoint, old: submitted?.size ?? 0 });
  const now = clock.now();
  if (outcome === 'behind') return false;
  const name = witness.name;
  if ('line' in outcome) {
    const row = { checkpoint_seq: checkpoint.seq, witness: name, line: outcome.line, received_at: now };
    // another process may have submitted it too
    await db.insertInto('log_cosignatures').values(row).execute().catch(ignoreDuplicate);
    const fine = { failing_since: null, refused: null };
    await db
      .insertInto('log_witnesses')
      .values({ name, ...fine })
      .onDuplicateKeyUpdate(fine)
      .execute();
    return true;
  }
  log.warn({ witness: name, size: checkpoint.size, ...outcome }, 'a witness did not countersign a checkpoint');
  const refused = 'refused' in outcome ? outcome.refused : null;
  await db
    .insertInto('log_witnesses')
    .values({ name, failing_since: now, refused })
    .onDuplicateKeyUpdate((eb) => ({
      failing_since: eb.fn.coalesce('failing_since', eb.val(now)),
      ...(refused && { refused }),
    }))
    .execute();
  return false;
}

/** Returns the newest checkpoint that a witness countersigned. */
async function readSubmitted(db: Reader, { name }: Witness) {
  return await db
    .selectFrom('log_cosignatures')
    .innerJoin('log_checkpoints', 'log_checkpoints.seq', 'checkpoint_seq')
    .select(['seq', 'size'])
    .where('witness', '=', name)
    .orderBy('checkpoint_seq', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** `isKnown`: a witness that saw no checkpoint of this origin does not count. */
type Submission = { checkpoint: StoredCheckpoint; old: number; isKnown?: true };

async function submit(context: Context, witness: Witness, submission: Submission): Promise<Outcome> {
  const { checkpoint } = submission;
  let { old } = submission;
  // of another origin: the witness never saw this one
  if (old > checkpoint.size) old = 0;
  for (let attempt = 1; ; attempt++) {
    const answer = await post(context, witness, { checkpoint, old });
    if ('failed' in answer) return answer;
    const { status, text } = answer;
    if (status === 200) {
      const line = findCosignature(textOf(checkpoint), parseSignatures(text), witness);
      return line ? { line } : { failed: 'no valid cosignature' };
    }
    const seen = status === 409 && /^(?:0|[1-9]\d{0,14})\n?$/.test(text) ? Number(text) : undefined;
    // 409 with the size that we named: it saw another root of that size
    if (status === 422 || seen === old)
      return { refused: `its checkpoint of ${old} leaves is no beginning of ours of ${checkpoint.size}` };
    if (seen === undefined || attempt === ATTEMPTS_MAX) return { failed: `HTTP ${status}` };
    if (seen === 0 && submission.isKnown) return { failed: 'it saw no checkpoint of this log' };
    if (seen > checkpoint.size) {
      // another process may have submitted a newer one
      const newest = await readNewestCheckpoint(context.db, await readOrigin(context));
      if (newest && newest.size >= seen) return 'behind';
      return { refused: `it saw ${seen} leaves, and the log has ${checkpoint.size}` };
    }
    old = seen;
  }
}

function textOf({ note }: StoredCheckpoint): string {
  return note.slice(0, note.lastIndexOf('\n\n') + 1);
}

async function post(
  { db, signal }: Context,
  { url }: Witness,
  { checkpoint, old }: Submission,
): Promise<{ status: number; text: string } | { failed: string }> {
  const node = await openTree(db, checkpoint.size, [old]);
  const proof = proveConsistency(old, checkpoint.size, node).map((hash) => `${hash.toString('base64')}\n`);
  try {
    const response: Dispatcher.ResponseData = await request(`${url}/add-checkpoint`, {
      method: 'POST',
      body: `old ${old}\n${proof.join('')}\n${checkpoint.note}`,
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    let text = '';
    for await (const chunk of response.body.setEncoding('utf8')) {
      text += String(chunk);
      if (text.length > ANSWER_CHARS_MAX) return { failed: 'its answer is too long' };
    }
    return { status: response.statusCode, text };
  } catch (error) {
    signal.throwIfAborted();
    const { code, name } = describeError(error) as { code?: unknown; name?: unknown };
    return { failed: String(code ?? name) };
  }
}

/** One alert for each witness that is away for long, and one for each that refused. */
async function alertWitnesses(context: Context, witnesses: Witness[]): Promise<void> {
  const { db, clock } = context;
  const rows = await db.selectFrom('log_witnesses').selectAll().execute();
  const own = rows.filter(({ name }) => witnesses.some((witness) => witness.name === name));
  const isLong = (since: Date | null) => since !== null && clock.now().getTime() - since.getTime() >= AWAY_MS;
  const describe = (
    kind: 'witness_away' | 'witness_refused',
    { name, failing_since, refused }: (typeof own)[number],
  ) => {
    const facts = { hosts: [name], since: failing_since?.toISOString(), ...(refused && { error: refused }) };
    return {
      scope: name,
      severity: kind === 'witness_away' ? 'medium' : 'critical',
      ...summarize(kind, facts),
    } as const;
  };
  const away = own.filter(({ refused, failing_since }) => refused === null && isLong(failing_since));
  const refusing = own.filter(({ refused }) => refused !== null);
  await syncAlerts(
    context,
    'witness_away',
    away.map((row) => describe('witness_away', row)),
  );
  await syncAlerts(
    context,
    'witness_refused',
    refusing.map((row) => describe('witness_refused', row)),
  );
}

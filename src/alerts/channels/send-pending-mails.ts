import type { Context } from '../../context.ts';
import { createWakeSignal, runWorkerLoop } from '../../runtime/wake-signal.ts';
import { MAIL_MS_MAX, type Mail, MailError, type Mailer, openMailer } from './open-mailer.ts';

const IDLE_MS = 5_000;
/** No other process sends a mail that may still be in transit. */
const CLAIM_MS = 2 * MAIL_MS_MAX;
/** Waits after each failure. After the last one the mail is dropped. */
const RETRY_MS = [1, 5, 30, 120, 360, 720, 720, 1440, 1440].map((minutes) => minutes * 60_000);

type Pending = { created_at: Date; next_attempt_at: Date | null };
/** `error`: the code of a failure; null once the mail is sent; absent from a claim. */
type Change = { next_attempt_at: Date | null; sent_at?: Date; error?: string | null };

/** A table of mails, each a row that was inserted with what it is about. */
export type MailOutbox<Row extends Pending> = {
  name: string;
  /** The mail that has been due for longest. */
  findDue(now: Date): Promise<Row | undefined>;
  /** Changes a row whose next attempt is still that of `mail`. @returns whether it was. */
  update(mail: Row, change: Change): Promise<boolean>;
  /** Renders a mail, with what the log may say of it. @returns undefined for a mail that is not to be sent any more. */
  write(mail: Row): Promise<{ mail: Mail; about: Record<string, unknown> } | undefined>;
};

/**
 * Sends the mails of an outbox until the signal, if there is a mail server. Any number of processes may run it. A row is
 * claimed before its mail is sent, so only a crash between the server's acceptance and our update sends a mail twice, with
 * the same Message-ID.
 */
export async function sendPendingMails<Row extends Pending>(context: Context, outbox: MailOutbox<Row>): Promise<void> {
  const mailer = openMailer(context.config);
  if (!mailer) return;
  await runWorkerLoop({
    name: outbox.name,
    wakeUp: createWakeSignal(context.timers),
    idleMs: IDLE_MS,
    context,
    work: () => sendNext(context, mailer, outbox),
  });
}

/** @returns false if no mail was due. */
async function sendNext<Row extends Pending>(
  context: Context,
  mailer: Mailer,
  outbox: MailOutbox<Row>,
): Promise<boolean> {
  const now = context.clock.now();
  const due = await outbox.findDue(now);
  if (!due) return false;
  const claim = { next_attempt_at: new Date(now.getTime() + CLAIM_MS) };
  // two processes: one takes it
  if (!(await outbox.update(due, claim))) return true;
  const record = (change: Change) => outbox.update({ ...due, ...claim }, change);
  const written = await outbox.write(due);
  if (!written) {
    await record({ next_attempt_at: null });
    return true;
  }
  const { mail, about } = written;
  try {
    const { refused } = await mailer.send(mail);
    if (refused > 0) context.log.warn({ ...about, refused }, 'a mail was refused for some addresses');
    await record({ sent_at: context.clock.now(), next_attempt_at: null, error: null });
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    const next = error.isPermanent ? null : findNextAttempt(due.created_at, context.clock.now());
    await record({ next_attempt_at: next, error: error.code });
    context.log.error({ ...about, error: error.code, next_attempt_at: next }, 'a mail failed');
  }
  return true;
}

/** The first moment of the schedule after now; null after its end. */
function findNextAttempt(createdAt: Date, now: Date): Date | null {
  let atMs = createdAt.getTime();
  const waitMs = RETRY_MS.find((ms) => {
    atMs += ms;
    return atMs > now.getTime();
  });
  return waitMs === undefined ? null : new Date(now.getTime() + waitMs);
}

import type { Selectable } from 'kysely';
import type { Context } from '../context.ts';
import type { Database } from '../database/tables.ts';
import { describeError } from '../log.ts';
import { createWakeSignal, runWorkerLoop } from '../runtime/wake-signal.ts';
import { MailError, type Mailer } from './channels/open-mailer.ts';

const IDLE_MS = 10_000;
const MAILS_MAX = 20;
/** Longer than a mail may take: it is also the lease. */
const RETRY_MS = 5 * 60_000;
const GIVE_UP_MS = 24 * 3_600_000;

/**
 * Mails each merchant with an e-mail address that callbacks failed for good: one mail a cause and day; and, once, that its
 * answers are no HTTP. Until the signal.
 */
export async function mailFailedCallbacks(context: Context, mailer: Mailer | undefined): Promise<void> {
  if (!mailer) return;
  await runWorkerLoop({
    name: 'merchant mails',
    work: () => sendDue(context, mailer),
    wakeUp: createWakeSignal(context.timers),
    idleMs: IDLE_MS,
    context,
  });
}

type Due = Selectable<Database['merchant_mails']>;
/** `webhookId`: of the first callback. A row number would count the callbacks of all merchants. */
type Failure = Pick<Due, 'day' | 'cause'> & { merchantId: string; webhookId: string };

async function sendDue(context: Context, mailer: Mailer): Promise<boolean> {
  const now = context.clock.now();
  const due = await context.db
    .selectFrom('merchant_mails')
    .selectAll()
    .where('next_attempt_at', '<=', now)
    .orderBy('next_attempt_at')
    .limit(MAILS_MAX)
    .execute();
  for (const mail of due) {
    if (context.signal.aborted) return false;
    const retryAt = new Date(now.getTime() + RETRY_MS);
    // two processes: one takes it
    if (!(await setNextAttempt(context, mail, retryAt))) continue;
    if (await send(context, mailer, mail)) await setNextAttempt(context, { ...mail, next_attempt_at: retryAt }, null);
  }
  return due.length === MAILS_MAX;
}

async function setNextAttempt({ db }: Context, mail: Due, at: Date | null): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('merchant_mails')
    .set({ next_attempt_at: at })
    .where('merchant_seq', '=', mail.merchant_seq)
    .where('day', '=', mail.day)
    .where('cause', '=', mail.cause)
    .where('next_attempt_at', '=', mail.next_attempt_at)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** @returns whether it is done: sent, refused for good, too old, or the merchant has no address. */
async function send(context: Context, mailer: Mailer, mail: Due): Promise<boolean> {
  const merchant = await context.db
    .selectFrom('merchants')
    .innerJoin('callbacks', 'callbacks.merchant_seq', 'merchants.seq')
    .select(['id', 'email', 'webhook_id'])
    .where('merchants.seq', '=', mail.merchant_seq)
    .where('callbacks.seq', '=', mail.callback_seq)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  const isOld = context.clock.now().getTime() - mail.created_at.getTime() > GIVE_UP_MS;
  if (!merchant?.email || isOld) return true;
  try {
    const id = `${merchant.id}.${mail.day}.${mail.cause}`;
    const failure = { ...mail, merchantId: merchant.id, webhookId: merchant.webhook_id };
    await mailer.send({ to: [merchant.email], ...write(failure), id });
    return true;
  } catch (error) {
    const isPermanent = error instanceof MailError && error.isPermanent;
    context.log.warn(
      { merchant: merchant.id, error: describeError(error) },
      isPermanent ? 'the mail server refuses this merchant’s address' : 'a mail to a merchant failed; it is retried',
    );
    return isPermanent;
  }
}

/** Of a message that the merchant's format has no body for, which so was not sent. */
const NOT_SENT = 'no_provider_body';
/** The error code for a merchant's answer that is no HTTP. */
const NO_HTTP = 'no_http';

/** The text is in Portuguese and English, as the other mails to merchants. */
function write({ day, cause, merchantId, webhookId }: Failure): { subject: string; text: string } {
  if (cause === NOT_SENT) {
    const about = `${webhookId}, ${merchantId}`;
    return {
      subject: 'Confere: correção não enviada / a correction was not sent',
      text: `Pelo menos uma transação PIX foi corrigida em ${day}, e o formato do provedor, que o seu cadastro usa, não tem correções. Veja a primeira no portal, ou peça ao operador: ${about}. Há no máximo um e-mail por dia.

At least one PIX transaction was corrected on ${day}, and the format of the provider, which your merchant uses, has no corrections. See the first in the portal, or ask the operator: ${about}. There is at most one mail a day.
`,
    };
  }
  if (cause === NO_HTTP) {
    return {
      subject: 'Confere: a resposta do seu servidor não é HTTP / your server’s answer is not HTTP',
      text: `Em ${day}, o seu servidor respondeu a um aviso de transação PIX (${webhookId}) com algo que não é HTTP válido, como uma linha que termina sem CR ou um Content-Length ao lado de Transfer-Encoding. O aviso vale como entregue quando a resposta começa com um status 2xx legível; senão é repetido. Corrija a resposta: cada tentativa no portal mostra o que chegou. Este e-mail é enviado uma só vez.

On ${day}, your server answered a notice of a PIX transaction (${webhookId}) with something that is not valid HTTP, such as a line that ends without CR, or a Content-Length beside a Transfer-Encoding. The notice counts as delivered where the answer begins with a readable 2xx status; otherwise it is repeated. Correct the answer: each attempt in the portal shows what came. This mail is sent once.

${merchantId}
`,
    };
  }
  const portuguese = `Pelo menos um aviso de transação PIX falhou em definitivo em ${day} (${cause}): o endereço cadastrado recusou todas as tentativas, embora aceitasse outros avisos. O primeiro é ${webhookId}. Você pode reenviá-lo no portal, ou o operador. Há no máximo um e-mail por causa e dia.`;
  const english = `At least one notice of a PIX transaction failed for good on ${day} (${cause}): your address refused each attempt, though it took other notices. The first is ${webhookId}. You can send it again in the portal, or the operator can. There is at most one mail a cause and day.`;
  return {
    subject: 'Confere: aviso não entregue / a callback failed',
    text: `${portuguese}\n\n${english}\n\n${merchantId}\n`,
  };
}

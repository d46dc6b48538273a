import type { Context } from '../context.ts';
import { formatDay } from '../domain/language/language.ts';
import { describeUndelivered } from './channels/describe-undelivered.ts';
import { sendPendingMails } from './channels/send-pending-mails.ts';

const GIVE_UP_MS = 24 * 3_600_000;

/**
 * Mails each merchant with an e-mail address that callbacks failed for good: one mail a cause and day; and, once, that its
 * answers are no HTTP. Until the signal.
 */
export async function mailFailedCallbacks(context: Context): Promise<void> {
  const { db, clock, config } = context;
  await sendPendingMails(context, {
    name: 'merchant mails',
    findDue: (now) =>
      db
        .selectFrom('merchant_mails')
        .selectAll()
        .where('next_attempt_at', '<=', now)
        .orderBy('next_attempt_at')
        .limit(1)
        .executeTakeFirst(),
    async update(mail, { next_attempt_at }) {
      const { numUpdatedRows } = await db
        .updateTable('merchant_mails')
        .set({ next_attempt_at })
        .where('merchant_seq', '=', mail.merchant_seq)
        .where('day', '=', mail.day)
        .where('cause', '=', mail.cause)
        .where('next_attempt_at', '=', mail.next_attempt_at)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async write({ merchant_seq, callback_seq, created_at, day, cause }) {
      const merchant = await db
        .selectFrom('merchants')
        .innerJoin('callbacks', 'callbacks.merchant_seq', 'merchants.seq')
        .select(['id', 'email', 'webhook_id'])
        .where('merchants.seq', '=', merchant_seq)
        .where('callbacks.seq', '=', callback_seq)
        .where('deleted_at', 'is', null)
        .executeTakeFirst();
      const isOld = clock.now().getTime() - created_at.getTime() > GIVE_UP_MS;
      if (!merchant?.email || isOld) return undefined;
      const { id: merchantId, email, webhook_id: webhookId } = merchant;
      const failed = cause === NOT_SENT ? null : callback_seq;
      const page = `${config.PUBLIC_URL}/portal/callbacks/${webhookId}`;
      const facts = await describeUndelivered(db, { merchantSeq: merchant_seq, failed, page });
      const mail = {
        to: [email],
        ...write({ day, cause, merchantId, webhookId, facts }),
        id: `${merchantId}.${day}.${cause}`,
      };
      return { mail, about: { merchant: merchantId } };
    },
  });
}

/** `webhookId`: of the first callback. A row number would count the callbacks of all merchants. */
type Failure = { day: string; cause: string; merchantId: string; webhookId: string; facts: string };

/** The code of a message not sent: the merchant's format has no body for it. */
const NOT_SENT = 'no_provider_body';
/** The error code for a merchant's answer that is no HTTP. */
const NO_HTTP = 'no_http';

/** The text is in Portuguese and English, as the other mails to merchants. */
function write({ day, cause, merchantId, webhookId, facts }: Failure): { subject: string; text: string } {
  const [ptDay, enDay] = [formatDay(day, 'pt-BR'), formatDay(day, 'en')];
  if (cause === NOT_SENT) {
    const about = `${webhookId}, ${merchantId}`;
    return {
      subject: 'Confere: correção não enviada / a correction was not sent',
      text: `Pelo menos uma transação PIX foi corrigida em ${ptDay}, e o formato do provedor, que o seu cadastro usa, não tem correções. Veja a primeira no portal, ou peça à operação: ${about}. Há no máximo um e-mail por dia.

At least one PIX transaction was corrected on ${enDay}, and the format of the provider, which your merchant uses, has no corrections. See the first in the portal, or ask the operators: ${about}. There is at most one mail a day.

${facts}`,
    };
  }
  if (cause === NO_HTTP) {
    return {
      subject: 'Confere: a resposta do seu servidor não é HTTP / your server’s answer is not HTTP',
      text: `Em ${ptDay}, o seu servidor respondeu a um callback de transação PIX (${webhookId}) com algo que não é HTTP válido, como uma linha que termina sem CR ou um Content-Length ao lado de Transfer-Encoding. O callback vale como entregue quando a resposta começa com um status 2xx legível; senão é repetido. Corrija a resposta: cada tentativa no portal mostra o que chegou. Este e-mail é enviado uma só vez.

On ${enDay}, your server answered a callback of a PIX transaction (${webhookId}) with something that is not valid HTTP, such as a line that ends without CR, or a Content-Length beside a Transfer-Encoding. The callback counts as delivered where the answer begins with a readable 2xx status; otherwise it is repeated. Correct the answer: each attempt in the portal shows what came. This mail is sent once.

${facts}
${merchantId}
`,
    };
  }
  const portuguese = `Pelo menos um callback de transação PIX falhou em definitivo em ${ptDay} (${cause}): o endereço cadastrado recusou todas as tentativas, embora aceitasse outros callbacks. O primeiro é ${webhookId}. Você pode reenviá-lo no portal, ou a operação pode. Há no máximo um e-mail por causa e dia.`;
  const english = `At least one callback of a PIX transaction failed for good on ${enDay} (${cause}): your address refused each attempt, though it took other callbacks. The first is ${webhookId}. You can send it again in the portal, or the operators can. There is at most one mail a cause and day.`;
  return {
    subject: 'Confere: um callback falhou / a callback failed',
    text: `${portuguese}\n\n${english}\n\n${facts}\n${merchantId}\n`,
  };
}

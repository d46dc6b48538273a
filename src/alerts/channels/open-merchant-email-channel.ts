import type { Reader } from '../../database/reader.ts';
import type { AlertToSend, Channel } from './channel.ts';
import { describeUndelivered } from './describe-undelivered.ts';
import { MailError, type Mailer } from './open-mailer.ts';

const CONCERNS = ['merchant_failing', 'merchant_disabled'];

/** Mails a merchant with an e-mail address about its endpoint. Only this channel reads the address. */
export function openMerchantEmailChannel(
  mailer: Mailer,
  { db, publicUrl, warn }: { db: Reader; publicUrl: string; warn: (merchantId: string) => void },
): Channel {
  return {
    name: 'merchant_email',
    batchMax: 1,
    accepts: ({ name }) => CONCERNS.includes(name),
    async send(alerts) {
      // no mail about the end: the merchant has repaired its endpoint itself
      for (const alert of alerts.filter((one) => !one.endedAt)) {
        const merchant = await readMerchant(db, alert.scope);
        if (!merchant?.email) continue;
        const { seq: merchantSeq, email, last_failed_callback: failed } = merchant;
        const facts = await describeUndelivered(db, { merchantSeq, failed, page: `${publicUrl}/portal` });
        await mailer
          .send({ to: [email], ...write(alert, facts), id: `${alert.id}.merchant` })
          .catch((error: unknown) => {
            if (!(error instanceof MailError && error.isPermanent)) throw error;
            // a permanent refusal is not retried: ops have the alert
            warn(alert.scope);
          });
      }
    },
  };
}

async function readMerchant(db: Reader, merchantId: string) {
  return await db
    .selectFrom('merchants')
    .select(['seq', 'email', 'last_failed_callback'])
    .where('id', '=', merchantId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** The text is in Portuguese and English: a merchant's engineers may not speak the language of its customers. */
function write(alert: AlertToSend, facts: string): { subject: string; text: string } {
  const isDisabled = alert.name === 'merchant_disabled';
  const portuguese = isDisabled
    ? 'Desativamos o envio de callbacks de transações PIX para o endereço cadastrado: ele respondeu 410 ou não aceitou nenhum callback por 5 dias. Nada se perdeu: os callbacks ficam retidos até que você, no portal, ou a operação retome os envios.'
    : 'O endereço cadastrado não está aceitando callbacks de transações PIX. Nada se perdeu: os callbacks ficam retidos e seguem assim que o endereço responder 2xx. Depois de 5 dias sem sucesso o envio é desativado.';
  const english = isDisabled
    ? 'We stopped sending callbacks of PIX transactions to your address: it answered 410, or took none for 5 days. Nothing is lost: they are held until you, in the portal, or the operators enable it again.'
    : 'Your address is taking no callbacks of PIX transactions. Nothing is lost: they are held, and follow as soon as it answers 2xx. After 5 days without a success we stop sending.';
  return {
    subject: isDisabled
      ? 'Confere: envio desativado / callbacks disabled'
      : 'Confere: callbacks não entregues / callbacks are failing',
    text: `${portuguese}\n\n${english}\n\n${facts}\n${alert.scope}, ${alert.raisedAt.toISOString()}\n`,
  };
}

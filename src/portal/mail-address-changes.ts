import { sendPendingMails } from '../alerts/channels/send-pending-mails.ts';
import type { Context } from '../context.ts';
import { type AddressChange, type AddressKind, CHANGE_HOURS_MAX, listWaiting } from './address-changes.ts';
import { formatLink, type LinkSide } from './address-links.ts';

/**
 * Mails the links of changes that wait, and that a change was made. Until the signal. The text is in Portuguese and English, as
 * the other mails to merchants, and has no address: a URL may hold a secret.
 */
export async function mailAddressChanges(context: Context): Promise<void> {
  const { db } = context;
  const select = () =>
    db
      .selectFrom('merchant_address_changes')
      .select(['id', 'kind', 'value', 'old_value', 'merchant_seq', 'mail', 'next_attempt_at'])
      .select((eb) => eb.fn.coalesce('applied_at', 'asked_at').as('created_at'));
  await sendPendingMails(context, {
    name: 'address mails',
    findDue: (now) =>
      select().where('next_attempt_at', '<=', now).orderBy('next_attempt_at').limit(1).executeTakeFirst(),
    async update({ id, mail, next_attempt_at: due }, { next_attempt_at }) {
      const { numUpdatedRows } = await db
        .updateTable('merchant_address_changes')
        .set({ next_attempt_at })
        .where('id', '=', id)
        .where('mail', '=', mail)
        .where('next_attempt_at', '=', due)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async write({ id, kind, value, old_value: old, merchant_seq, mail }) {
      const merchant = await db
        .selectFrom('merchants')
        .select(['id', 'email'])
        .where('seq', '=', merchant_seq)
        .where('deleted_at', 'is', null)
        .executeTakeFirst();
      const [change] = await listWaiting(context, db, { id });
      const side = mail === 'applied' ? undefined : (mail as LinkSide);
      // void since, or the merchant is removed
      if (!merchant || (side && !change)) return undefined;
      const isEmail = kind === 'email';
      const to = side === 'prove' ? [value] : [isEmail && !side ? old : merchant.email, isEmail && !side && value];
      const named = to.filter((one) => typeof one === 'string');
      if (named.length === 0) return undefined;
      const text = side && change ? ask(context, change, side) : report(kind as AddressKind, merchant.id);
      return { mail: { to: named, ...text, id: `${id}.${mail}` }, about: { merchant: merchant.id } };
    },
  });
}

const NAMES: Record<AddressKind, { pt: string; en: string }> = {
  url: { pt: 'o endereço dos callbacks', en: 'the address of callbacks' },
  email: { pt: 'o e-mail', en: 'the e-mail' },
  test_url: { pt: 'o endereço de teste', en: 'the address for tests' },
};

function ask(context: Context, change: AddressChange, side: LinkSide): { subject: string; text: string } {
  const { pt, en } = NAMES[change.kind];
  const link = formatLink(context, change, side);
  return {
    subject: 'Confere: confirme uma mudança / confirm a change',
    text: `No portal foi pedido que mude ${pt} de ${change.merchant}. Nada muda sem este link, que vale ${CHANGE_HOURS_MAX} horas, mostra o que muda e também recusa. Se não foi você, recuse e avise a operação: um token do portal pode ter vazado.

In the portal somebody asked to change ${en} of ${change.merchant}. Nothing changes without this link, which is valid for ${CHANGE_HOURS_MAX} hours, shows what changes, and also refuses it. If it was not you, refuse it and notify the operators: a token of the portal may have leaked.

${link}
`,
  };
}

function report(kind: AddressKind, merchant: string): { subject: string; text: string } {
  const { pt, en } = NAMES[kind];
  return {
    subject: 'Confere: uma mudança foi feita / a change was made',
    text: `Mudou ${pt} de ${merchant}. Se não foi você, avise a operação agora.

What changed is ${en} of ${merchant}. If it was not you, notify the operators now.
`,
  };
}

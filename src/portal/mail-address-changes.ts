import { sendPendingMails } from '../alerts/channels/send-pending-mails.ts';
import type { Context } from '../context.ts';
import { DAY_MS } from '../domain/calendar.ts';
import { type AddressKind, CHANGE_HOURS_MAX, listWaiting } from './address-changes.ts';
import { formatLink, type LinkSide } from './address-links.ts';
import { NOTICE, OWN_NOTICES, type OwnNotice } from './note-own-changes.ts';

/** How long reports also go to an e-mail that a change replaced: who brought that about must not silence its owner. Such changes are kept longer. */
const OLD_EMAIL_MS = 5 * DAY_MS;

type Text = { subject: string; text: string };
type Row = NonNullable<Awaited<ReturnType<ReturnType<typeof selectMails>['executeTakeFirst']>>>;

/**
 * Mails the links of changes that wait, that a change was made, and notices. Until the signal. The text is in Portuguese and
 * English, as the other mails to merchants, and has the host of an address alone: a path may hold a secret.
 */
export async function mailAddressChanges(context: Context): Promise<void> {
  const { db } = context;
  await sendPendingMails(context, {
    name: 'address mails',
    findDue: (now) =>
      selectMails(context).where('next_attempt_at', '<=', now).orderBy('next_attempt_at').limit(1).executeTakeFirst(),
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
    async write({ id }) {
      // read once it is claimed: a notice grows until then
      const row = await selectMails(context).where('change.id', '=', id).executeTakeFirst();
      const written = row && (await writeMail(context, row));
      return row && written && { mail: { ...written, id: `${id}.${row.mail}` }, about: { merchant: row.merchant } };
    },
  });
}

function selectMails({ db }: Context) {
  return db
    .selectFrom('merchant_address_changes as change')
    .innerJoin('merchants', 'merchants.seq', 'merchant_seq')
    .leftJoin('tokens', 'tokens.id', 'asked_by')
    .select(['change.id', 'kind', 'value', 'old_value', 'mail', 'next_attempt_at', 'asked_at', 'deleted_at', 'email'])
    .select('change.merchant_seq')
    .select(['merchants.id as merchant', 'merchants.name as shop', 'tokens.name as asked_by_name'])
    .select((eb) => eb.fn.coalesce('applied_at', 'asked_at').as('created_at'));
}

/** @returns undefined once a change is void, or the merchant is removed. */
async function writeMail(context: Context, row: Row): Promise<(Text & { to: string[] }) | undefined> {
  const { id, value, mail, email } = row;
  const isAsking = mail !== 'applied' && mail !== NOTICE;
  const [change] = isAsking ? await listWaiting(context, context.db, { id }) : [];
  if (row.deleted_at !== null || (isAsking && !change)) return undefined;
  const to = mail === 'prove' ? [value] : isAsking ? [email] : [email, ...(await readOldEmails(context, row))];
  const named = [...new Set(to)].filter((one) => one !== null);
  if (named.length === 0) return undefined;
  // cast: these mails alone are stored
  const text = change ? ask(row, formatLink(context, change, mail as LinkSide)) : report(row);
  return { ...text, text: `${text.text}\n${describe(context, row)}\n`, to: named };
}

/** The e-mails that changes asked for in the portal replaced lately; of operators' changes no mail is due. */
async function readOldEmails({ db, clock }: Context, { merchant_seq: seq }: Row): Promise<(string | null)[]> {
  const rows = await db
    .selectFrom('merchant_address_changes')
    .select('old_value')
    .where('merchant_seq', '=', seq)
    .where('kind', '=', 'email')
    .where('mail', '=', 'applied')
    .where('applied_at', '>', new Date(clock.now().getTime() - OLD_EMAIL_MS))
    .execute();
  return rows.map((row) => row.old_value);
}

const NAMES: Record<AddressKind, { pt: string; en: string }> = {
  url: { pt: 'o endereço dos callbacks', en: 'the address of callbacks' },
  email: { pt: 'o e-mail', en: 'the e-mail' },
  test_url: { pt: 'o endereço de teste', en: 'the address for tests' },
};

function ask({ kind }: Row, link: string): Text {
  const { pt, en } = NAMES[kind as AddressKind];
  return {
    subject: 'Confere: confirme uma mudança / confirm a change',
    text: `No portal foi pedido que mude ${pt}. Nada muda sem este link, que vale ${CHANGE_HOURS_MAX} horas, mostra o que muda e também recusa. Se não foi você, recuse e avise a operação: um token do portal pode ter vazado.

In the portal somebody asked to change ${en}. Nothing changes without this link, which is valid for ${CHANGE_HOURS_MAX} hours, shows what changes, and also refuses it. If it was not you, refuse it and notify the operators: a token of the portal may have leaked.

${link}
`,
  };
}

function report({ kind, value }: Row): Text {
  const done = kind === NOTICE ? (value ?? '').split(',').map((one) => OWN_NOTICES[one as OwnNotice]) : [];
  const { pt, en } =
    kind === NOTICE
      ? { pt: done.map((one) => one.pt).join('; '), en: done.map((one) => one.en).join('; ') }
      : { pt: `mudou ${NAMES[kind as AddressKind].pt}`, en: `what changed is ${NAMES[kind as AddressKind].en}` };
  return {
    subject: 'Confere: uma mudança foi feita / a change was made',
    text: `Pelo portal: ${pt}. Se não foi você, avise a operação agora: um token do portal pode ter vazado.

By the portal: ${en}. If it was not you, notify the operators now: a token of the portal may have leaked.
`,
  };
}

/** The shop, what is new, and who asked for it, when: on two clocks, as its readers know one of them. */
function describe({ calendar }: Context, { kind, value, asked_at, shop, merchant, asked_by_name: by }: Row): string {
  const isNotice = kind === NOTICE;
  const utc = asked_at.toISOString().slice(0, 19).replace('T', ' ');
  const at = `${calendar.toWallTime(asked_at)} (${calendar.zone}) = ${utc} (UTC)`;
  return `Lojista / Merchant: ${shop} (${merchant})
${isNotice ? '' : `Novo / New: ${mask(kind, value)}\n`}Pedido por / Asked for by: ${by ?? '–'}, ${at}`;
}

function mask(kind: string, value: string | null): string {
  if (value === null) return '–';
  return kind === 'email' ? `${value.charAt(0)}***${value.slice(value.lastIndexOf('@'))}` : new URL(value).host;
}

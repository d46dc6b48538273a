/**
 * Notices of what a token did in the portal: the owner of the e-mail on file learns of a token that leaked. They are rows of
 * `merchant_address_changes`, whose outbox mails them: `value` names what was done, `applied_at` is when the mail is due.
 */
import type { Context } from '../context.ts';
import { transact } from '../database/transact.ts';
import { makeChangeId } from '../merchants/note-addresses.ts';
import type { MerchantRow } from '../merchants/read-merchants.ts';
import { isMailed } from './address-changes.ts';

export const NOTICE = 'notice';
/** Texts of the mail, in the order of its languages. */
export const OWN_NOTICES = {
  secret: { pt: 'o segredo foi trocado', en: 'the secret was rotated' },
  filter: { pt: 'o filtro foi mudado', en: 'the filter was changed' },
  paused: { pt: 'os callbacks foram pausados', en: 'callbacks were paused' },
  enabled: { pt: 'os callbacks foram retomados', en: 'callbacks were resumed' },
  sent: { pt: 'o que esperava foi enviado na hora', en: 'what waited was sent at once' },
  withdrawn: { pt: 'uma mudança que esperava foi retirada', en: 'a change that waited was withdrawn' },
} as const;
export type OwnNotice = keyof typeof OWN_NOTICES;

/** A notice waits for what follows. */
const NOTICE_WAIT_MS = 60_000;
/** A token that leaked must not flood a mailbox. */
export const NOTICE_EVERY_MS = 15 * 60_000;

/** Notes what a token did, for the next notice to the merchant's e-mail on file, if it is mailed. The merchant is locked. */
export async function noteOwnChange(
  context: Context,
  merchant: MerchantRow,
  { tokenId, what }: { tokenId: string; what: OwnNotice },
): Promise<void> {
  if (!isMailed(context, merchant)) return;
  const now = context.clock.now();
  await transact(context.db, async (trx) => {
    const last = await trx
      .selectFrom('merchant_address_changes')
      .select(['seq', 'value', 'asked_by', 'applied_at', 'next_attempt_at'])
      .where('merchant_seq', '=', merchant.seq)
      .where('kind', '=', NOTICE)
      .orderBy('seq', 'desc')
      .limit(1)
      .forUpdate()
      .executeTakeFirst();
    const lastMs = last?.applied_at?.getTime() ?? 0;
    // no process has claimed it
    if (last && last.asked_by === tokenId && last.next_attempt_at?.getTime() === lastMs) {
      // by the last time of each: the mail ends with how it is now
      const value = [...(last.value ?? '').split(',').filter((one) => one !== what), what].join();
      await trx.updateTable('merchant_address_changes').set({ value }).where('seq', '=', last.seq).execute();
      return;
    }
    const due = new Date(Math.max(now.getTime() + NOTICE_WAIT_MS, lastMs + NOTICE_EVERY_MS));
    await trx
      .insertInto('merchant_address_changes')
      .values({
        ...{
          id: makeChangeId(),
          merchant_seq: merchant.seq,
          kind: NOTICE,
          value: what,
        },
        ...{ asked_at: now, asked_by: tokenId, applied_at: due, mail: NOTICE, next_attempt_at: due },
      })
      .execute();
  });
}

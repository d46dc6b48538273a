import { sendWaiting } from '../callbacks/health/pause-and-resume.ts';
import { presentOwnCallback } from '../callbacks/manage/present-callback.ts';
import { findCallback } from '../callbacks/manage/read-callbacks.ts';
import { findOwnCallback } from '../callbacks/manage/read-own-callbacks.ts';
import { redeliver } from '../callbacks/manage/redeliver.ts';
import { assertReplays } from '../callbacks/manage/replay.ts';
import { sendTest, sendTests } from '../callbacks/manage/send-test.ts';
import type { Context } from '../context.ts';
import { setOwnFilter, setOwnState } from '../merchants/change-own.ts';
import type { FilterInput } from '../merchants/match-filter.ts';
import type { MerchantRow } from '../merchants/read-merchants.ts';
import { rotateSecret, rotateTestSecret } from '../merchants/secrets.ts';
import { type AskedAddress, askAddressChange, decideAddressChange } from './address-changes.ts';
import { noteOwnChange, type OwnNotice } from './note-own-changes.ts';

export type OwnChanges = ReturnType<typeof listChanges>;

/** Lists a merchant's changes. @param inner its `db` is the transaction that audits the change. @param tokenId who asks. */
export function listChanges(inner: Context, merchant: MerchantRow, tokenId: string) {
  const { seq, id } = merchant;
  const noted = async <Made>(what: OwnNotice | ((made: Made) => OwnNotice), change: Promise<Made>): Promise<Made> => {
    const made = await change;
    await noteOwnChange(inner, merchant, { tokenId, what: typeof what === 'string' ? what : what(made) });
    return made;
  };
  const present = async (callback: { webhook_id: string }) => {
    const row = await findOwnCallback(inner.db, seq, callback.webhook_id);
    return { target: `cb_${row.seq}`, callback: presentOwnCallback(row) };
  };
  return {
    /** @throws ConfereError `not_found`; `conflict` while nothing would be sent. */
    async redeliver(webhookId: string) {
      const row = await findOwnCallback(inner.db, seq, webhookId);
      return await present(await redeliver(inner, `cb_${row.seq}`));
    },
    /** @returns true. @throws ConfereError `conflict` while nothing would be sent. */
    async assertReplays() {
      await assertReplays(inner, id);
      return true;
    },
    /** Sends a signed test callback, in any state of the merchant. */
    sendTest: async () => await present(await sendTest(inner, id)),
    /** Sends an example of each of these types. */
    async sendExamples(types: readonly string[]) {
      const made = await sendTests(inner, id, types);
      const rows = await Promise.all(made.map((one) => findCallback(inner.db, `cb_${one}`)));
      return await Promise.all(rows.map((row) => present(row)));
    },
    /** The secret is returned only here. @throws ConfereError `conflict` while the one before signs too. */
    rotateSecret: (of: 'url' | 'test_url') =>
      noted('secret', of === 'url' ? rotateSecret(inner, id, false) : rotateTestSecret(inner, id)),
    /** A new address has answered the challenge before (`proveAddress`). @throws as `askAddressChange`. */
    askAddressChange: (asked: AskedAddress) => askAddressChange(inner, id, { ...asked, tokenId }),
    /** Ends a change that waits. @throws ConfereError `not_found`. */
    withdrawAddressChange: (change: string) =>
      noted('withdrawn', decideAddressChange(inner, id, { id: change, decision: 'refuse' })),
    /** @throws ConfereError `conflict`. */
    setState: (state: 'enabled' | 'paused') =>
      noted(({ was }) => (was === state ? 'sent' : state), setOwnState(inner, id, state)),
    /** Sends at once what waits for a later time. Many rows: in no transaction. */
    sendWaiting: () => sendWaiting(inner, merchant),
    /** @throws ConfereError `conflict` while past events of an earlier change are being sent. */
    setFilter: (filter: FilterInput) => noted('filter', setOwnFilter(inner, id, { filter, tokenId })),
  };
}

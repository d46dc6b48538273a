import { readParties, readPartiesByReference } from '../../database/read-parties.ts';
import type { Reader } from '../../database/reader.ts';
import { listNamed, maskMismatch } from '../../domain/person/mask-free-text.ts';
import { maskHolding, WITHHELD } from '../../domain/person/mask-person.ts';
import { nameStatus } from '../../domain/statuses.ts';
import type { findWebhook } from '../../inbox/manage/read-webhooks.ts';
import type { PresentedMismatch } from '../../mismatches/read-mismatches.ts';

type Webhook = NonNullable<Awaited<ReturnType<typeof findWebhook>>>;

/** Mismatches for who may not see personal data. */
export async function maskMismatches(db: Reader, mismatches: PresentedMismatch[]): Promise<PresentedMismatch[]> {
  const parties = await readParties(db, mismatches.flatMap(listNamed));
  return mismatches.map((one) => {
    const of = listNamed(one).flatMap((id) => parties.get(id) ?? []);
    return maskMismatch(one, of);
  });
}

/** A webhook likewise: its items show what its body claims, of transactions that it may name by their reference alone. */
export async function maskWebhook(db: Reader, webhook: Webhook): Promise<Webhook> {
  const items = webhook.items_detail;
  const byId = await readParties(
    db,
    items.flatMap((item) => item.transaction_id ?? []),
  );
  const byReference = await readPartiesByReference(
    db,
    items.flatMap((item) => item.reference ?? []),
  );
  const masked = items.map((item) => {
    const party = byId.get(item.transaction_id ?? '');
    const of = [...(party ? [party] : []), ...(byReference.get(item.reference ?? '') ?? [])];
    const { claimed_status: status } = item;
    return {
      ...item,
      // an id that the ledger knows is the provider's
      transaction_id: party ? item.transaction_id : maskHolding(item.transaction_id, ...of),
      reference: maskHolding(item.reference, ...of),
      claimed_status: status === null || nameStatus(status) === status ? status : WITHHELD,
    };
  });
  return { ...webhook, items_detail: masked };
}

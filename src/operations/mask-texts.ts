import { mayActAs, maySeePersons } from '../access/roles.ts';
import type { Caller } from '../access/tokens.ts';
import type { Reader } from '../database/reader.ts';
import { listPlatformNames } from '../database/shared/list-platform-names.ts';
import { readParties, readPartiesByReference } from '../database/shared/read-parties.ts';
import { listTransactionIds, maskMismatch } from '../domain/person/mask-mismatch.ts';
import { maskPlatform, maskText, WITHHELD } from '../domain/person/mask-person.ts';
import { describeStatus } from '../domain/statuses.ts';
import type { findWebhook } from '../inbox/manage/read-webhooks.ts';
import { maskMerchant, type PresentedMerchant, presentMerchant } from '../merchants/present-merchant.ts';
import type { MerchantRow } from '../merchants/read-merchants.ts';
import type { PresentedMismatch } from '../mismatches/read-mismatches.ts';
import { mapInTurns } from '../runtime/take-turns.ts';

type Webhook = NonNullable<Awaited<ReturnType<typeof findWebhook>>>;

/** Returns a row as this caller may see it: a platform that is a document is withheld from a viewer. */
export function presentPlatform<T extends { platform: string | null }>(caller: Caller, row: T): T {
  return maySeePersons(caller.role) ? row : { ...row, platform: maskPlatform(row.platform) };
}

/** Returns a platform's name as this caller may see it: withheld with its id. */
export function presentPlatformName<T extends { platform: string; name: string }>(caller: Caller, row: T): T {
  const { platform } = presentPlatform(caller, row);
  const isWithheld = platform === WITHHELD && row.platform !== WITHHELD;
  return {
    ...row,
    platform,
    name: isWithheld ? WITHHELD : maySeePersons(caller.role) ? row.name : maskText(row.name),
  };
}

/** Reads the names of platforms by id, as this caller may see them; without those that are withheld. */
export async function readPlatformNames(db: Reader, caller: Caller): Promise<Map<string, string>> {
  const shown = (await listPlatformNames(db)).map(
    (one) => [one.platform, presentPlatformName(caller, one).name] as const,
  );
  return new Map(shown.filter(([, name]) => name !== WITHHELD));
}

/** Returns a merchant as this caller may see it: in full for operators. */
export function presentMerchantTo(caller: Caller, row: MerchantRow): PresentedMerchant {
  const merchant = presentMerchant(row);
  return mayActAs(caller.role, 'operator') ? merchant : maskMerchant(merchant);
}

/** Returns a merchant's name as this caller may see it. */
export function presentMerchantName(caller: Caller, name: string): string {
  return mayActAs(caller.role, 'operator') ? name : maskText(name);
}

/** Returns mismatches as a viewer may see them. */
export async function maskMismatches(db: Reader, mismatches: PresentedMismatch[]): Promise<PresentedMismatch[]> {
  const parties = await readParties(db, mismatches.flatMap(listTransactionIds));
  return await mapInTurns(mismatches, (one) => {
    const of = listTransactionIds(one).flatMap((id) => parties.get(id) ?? []);
    return maskMismatch(one, of);
  });
}

/**
 * Returns a webhook as a viewer may see it. Its items repeat what its body claims, of transactions that it may name by
 * their reference alone.
 */
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
  const masked = await mapInTurns(items, (item) => {
    const party = byId.get(item.transaction_id ?? '');
    const of = [...(party ? [party] : []), ...(byReference.get(item.reference ?? '') ?? [])];
    const { claimed_status: status } = item;
    return {
      ...item,
      // an id that the ledger knows is the provider's
      transaction_id: party ? item.transaction_id : maskText(item.transaction_id, ...of),
      reference: maskText(item.reference, ...of),
      claimed_status: status === null || describeStatus(status) === status ? status : WITHHELD,
    };
  });
  return { ...webhook, items_detail: masked };
}

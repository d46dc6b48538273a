import type { Context } from '../../context.ts';
import { describeError } from '../../log.ts';
import type { ProviderClient } from '../../provider/client.ts';
import type { FetchResult } from '../items/fetch-transaction.ts';
import type { Admission } from './admit-shows.ts';
import { findInDayPages } from './find-in-day-pages.ts';
import type { ItemGroup, Verifier } from './verify-items.ts';

const SHOWS_IN_FLIGHT = 32;
const RECORD_GROUPS_MAX = 100;

/** `leave` is called once for each group, also after errors: a key that stayed would block its transaction for good. */
type Burst = { groups: ItemGroup[]; leave: (group: ItemGroup) => void };
type AdmittedGroup = ItemGroup & { admission: Admission };

/** Verifies many groups at once: in list pages as far as these are cheaper, the rest by id. */
export async function verifyBurst(
  context: Context,
  client: ProviderClient,
  verifier: Verifier,
  { groups, leave }: Burst,
): Promise<void> {
  // a sender without a hit may fetch few: after a hit among these the rest is admitted too
  const waiting = await verifyAdmitted(context, client, verifier, { groups, leave });
  const left = await verifyAdmitted(context, client, verifier, { groups: waiting, leave });
  const defer = async (group: ItemGroup): Promise<void> => {
    await verifyGroup(context, verifier, {
      ...group,
      admission: { kind: 'wait', waitsFor: 'sender', notBefore: undefined },
    });
    leave(group);
  };
  await Promise.all(left.map(defer));
}

/** @returns the groups that may not be fetched now. */
async function verifyAdmitted(
  context: Context,
  client: ProviderClient,
  verifier: Verifier,
  { groups, leave }: Burst,
): Promise<ItemGroup[]> {
  const admissions = await verifier.admit(groups.map(({ items }) => items));
  const admitted: AdmittedGroup[] = [];
  const waiting: ItemGroup[] = [];
  for (const [index, group] of groups.entries()) {
    const admission = admissions[index];
    if (!admission) leave(group);
    else if (admission.kind === 'wait' && admission.waitsFor === 'sender') waiting.push(group);
    else admitted.push({ ...group, admission });
  }
  const found = await findGroups(context, client, admitted);
  await recordFound(context, verifier, { found, leave });
  const foundKeys = new Set(found.map(({ key }) => key));
  const unknown = admitted.filter(({ key }) => !foundKeys.has(key));
  const worker = async (): Promise<void> => {
    for (let group = unknown.shift(); group; group = unknown.shift()) {
      if (!context.signal.aborted) await verifyGroup(context, verifier, group);
      leave(group);
    }
  };
  await Promise.all(Array.from({ length: SHOWS_IN_FLIGHT }, worker));
  return waiting;
}

type FoundGroup = AdmittedGroup & { result: FetchResult };

/** @returns the groups that list pages showed. */
async function findGroups(context: Context, client: ProviderClient, groups: AdmittedGroup[]): Promise<FoundGroup[]> {
  if (groups.length === 0) return [];
  const items = groups.filter(({ admission }) => admission.kind === 'show').flatMap((group) => group.items);
  const results = await findInDayPages(context, client, items).catch(() => new Map<string, FetchResult>());
  const found = groups.flatMap((group) => {
    const result = results.get(group.items[0]?.transactionId ?? '');
    return result ? [{ ...group, result }] : [];
  });
  context.log.info({ looked_up: groups.length, met: found.length }, 'looked up a burst of webhooks in list pages');
  return found;
}

async function recordFound(
  context: Context,
  verifier: Verifier,
  { found, leave }: { found: FoundGroup[]; leave: Burst['leave'] },
): Promise<void> {
  for (let from = 0; from < found.length; from += RECORD_GROUPS_MAX) {
    const batch = found.slice(from, from + RECORD_GROUPS_MAX);
    const fetches = batch.map(({ items, result, admission }) => ({
      ...{ items, result, chargedSender: admission.kind === 'show' ? admission.chargedSender : undefined },
    }));
    await verifier.applyAndRecord(fetches).catch((error: unknown) => logFailure(context, error));
    for (const group of batch) leave(group);
  }
}

async function verifyGroup(context: Context, verifier: Verifier, { items, admission }: AdmittedGroup): Promise<void> {
  await verifier.verify(items, admission).catch((error: unknown) => logFailure(context, error));
}

function logFailure(context: Context, error: unknown): void {
  context.log.error({ error: describeError(error) }, 'a verification of a burst failed');
}

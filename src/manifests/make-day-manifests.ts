/**
 * Makes the manifests of ended days: what a merchant checks its messages of a day against. A day's manifest is made once the
 * day has ended, and again (the next revision) when what it is about changes: messages that were learnt later, corrected
 * amounts, a day that was proven or closed since. Each revision is stored, becomes a leaf of the log, and is sent as a
 * callback once its proof is there.
 *
 * A due day stays due until it is made, so a killed process loses none. A merchant whose past events are being enqueued waits,
 * and the days of their messages are made once that ends.
 */
import { randomBytes } from 'node:crypto';
import type { Transaction } from 'kysely';
import { deriveManifestId } from '../callbacks/queue/derive-webhook-id.ts';
import { enqueueManifest } from '../callbacks/queue/enqueue-callbacks.ts';
import { readRecipients } from '../callbacks/queue/read-recipients.ts';
import {
  digestIds,
  digestMessages,
  hashFacts,
  type ManifestFacts,
  type Member,
  sumTypes,
  writeStatement,
} from '../callbacks/render/build-statement.ts';
import type { Context } from '../context.ts';
import { requireRowNumber } from '../database/require-row-number.ts';
import { isAwaitingConfirmation } from '../database/restores.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import type { Day } from '../domain/calendar.ts';
import { splitList } from '../domain/lists.ts';
import { readNewestSeal, type Seal } from '../seal/read-seals.ts';
import { queueLeaf } from '../tlog/append.ts';
import { hashLeaf } from '../tlog/merkle.ts';
import { classifyManifestDay, type DayFlags, findImprovedDays } from './classify-manifest-day.ts';
import { findDueDays, findDueDaysOf, insertDue } from './find-due-days.ts';
import { isDropped, readMembers } from './read-members.ts';

/** Merchants whose messages of one day are held in memory at once. */
const MERCHANTS_MAX = 50;
const DUE_DAYS_MAX = 100_000;
const SALT_BYTES = 16;
/** Version 1 had some. */
const NO_SIGNATURES = '[]';

type Merchant = { seq: number; id: string; isSent: boolean };
type Making = { day: Day; flags: DayFlags; cut: number; chain: Seal | undefined };

/** @returns how many revisions were made. */
export async function makeDayManifests(context: Context): Promise<{ made: number }> {
  // days of the gap would lack messages
  if (await isAwaitingConfirmation(context.db)) return { made: 0 };
  const cut = await findDueDays(context);
  const improved = await findImprovedDays(context);
  await transact(context.db, (trx) => insertDue(trx, improved));
  return await makeDue(context, cut);
}

/**
 * Makes those of a merchant whose backfill has ended, without the job's next tick. A failure loses none: that tick makes them.
 * @returns how many revisions were made.
 */
export async function makeBackfilledManifests(context: Context, merchantSeq: number): Promise<{ made: number }> {
  if (await isAwaitingConfirmation(context.db)) return { made: 0 };
  return await makeDue(context, await findDueDaysOf(context, merchantSeq), merchantSeq);
}

async function makeDue(context: Context, cut: number, merchantSeq?: number): Promise<{ made: number }> {
  const due = await readDue(context, merchantSeq);
  if (due.size === 0) return { made: 0 };
  const chain = await readNewestSeal(context.db);
  let made = 0;
  for (const [day, merchants] of due) {
    const flags = await classifyManifestDay(context, day);
    for (const some of splitList(merchants, MERCHANTS_MAX)) {
      context.signal.throwIfAborted();
      made += await makeForMerchants(context, some, {
        ...{ day, flags, cut, chain },
      });
    }
  }
  if (made > 0) context.wakeUps.callbacks.notify();
  context.log.info({ made, days: due.size }, 'made day manifests');
  return { made };
}

/** The due days, the oldest first, without merchants that were removed or whose past events are being enqueued. */
async function readDue({ db }: Context, merchantSeq: number | undefined): Promise<Map<Day, Merchant[]>> {
  const rows = await db
    .selectFrom('due_day_manifests')
    .innerJoin('merchants', 'merchants.seq', 'due_day_manifests.merchant_seq')
    .leftJoin('backfills', 'backfills.merchant_seq', 'merchants.seq')
    .select(['day', 'merchants.seq', 'merchants.id', 'merchants.manifests', 'merchants.format'])
    .where('deleted_at', 'is', null)
    .$if(merchantSeq !== undefined, (query) => query.where('merchants.seq', '=', merchantSeq ?? 0))
    .where((eb) => eb.or([eb('backfills.state', 'is', null), eb('backfills.state', 'not in', ['waiting', 'running'])]))
    .orderBy('day')
    .orderBy('merchants.seq')
    .limit(DUE_DAYS_MAX)
    .execute();
  const byDay = Map.groupBy(rows, (row) => row.day);
  // the provider's format has no body for a manifest
  const isSent = ({ manifests, format }: (typeof rows)[number]) => manifests === 1 && format === 'standard';
  return new Map(
    [...byDay].map(([day, own]) => [day, own.map((row) => ({ seq: row.seq, id: row.id, isSent: isSent(row) }))]),
  );
}

async function makeForMerchants(context: Context, merchants: Merchant[], making: Making): Promise<number> {
  const { day, cut } = making;
  const members = await readMembers(context, day, { merchantSeqs: merchants.map(({ seq }) => seq), cut });
  let made = 0;
  for (const merchant of merchants) {
    const isMade = await transact(context.db, (trx) =>
      makeRevision(context, trx, merchant, { ...making, members: members.get(merchant.seq) ?? [] }),
    );
    if (isMade) made++;
  }
  return made;
}

/** Compares a day with its newest revision, and adds one if they differ. @returns whether it did. */
async function makeRevision(
  context: Context,
  trx: Transaction<Database>,
  merchant: Merchant,
  { day, flags, cut, chain, members }: Making & { members: Member[] },
): Promise<boolean> {
  const due = { day, merchant_seq: merchant.seq };
  // locked: of two processes one makes it, and a second attempt after a lost COMMIT finds it gone
  const isDue = await trx
    .selectFrom('due_day_manifests')
    .select('day')
    .where('day', '=', day)
    .where('merchant_seq', '=', merchant.seq)
    .forUpdate()
    .executeTakeFirst();
  if (!isDue) return false;
  const before = await trx
    .selectFrom('day_manifests')
    .select(['revision', 'facts_hash', 'is_proven', 'is_closed', 'callback_cut'])
    .where('merchant_seq', '=', merchant.seq)
    .where('day', '=', day)
    .orderBy('revision', 'desc')
    .limit(1)
    .executeTakeFirst();
  // another process knows later messages: the day stays due
  if (before && before.callback_cut > cut) return false;
  await trx.deleteFrom('due_day_manifests').where('day', '=', day).where('merchant_seq', '=', merchant.seq).execute();
  if (await isDropped(context, trx, { merchantSeq: merchant.seq, day })) return false;
  const facts: ManifestFacts = {
    ...{ merchant: merchant.id, day, zone: context.calendar.zone },
    ...{ messages: members.length, types: sumTypes(members), idsDigest: digestIds(members.map(({ id }) => id)) },
    // the readings that proved a day may be gone later
    ...{ proven: flags.proven || before?.is_proven === 1, closed: flags.closed || before?.is_closed === 1 },
  };
  const factsHash = hashFacts(facts);
  if (before?.facts_hash.equals(factsHash)) return false;
  const [revision, madeAt] = [(before?.revision ?? 0) + 1, context.clock.now()];
  const salt = randomBytes(SALT_BYTES).toString('hex');
  const messagesDigest = digestMessages(members);
  const payload = writeStatement(facts, { revision, madeAt, chain, messagesDigest, salt });
  const webhookId = deriveManifestId(context.keys.callbackIds, { merchantId: merchant.id, day, revision, factsHash });
  const [recipient] = merchant.isSent ? await readRecipients(trx, merchant.seq) : [];
  const row = {
    ...{ ...due, revision, facts_hash: factsHash, ids_digest: facts.idsDigest, callback_cut: cut },
    ...{ is_proven: facts.proven ? 1 : 0, is_closed: facts.closed ? 1 : 0, payload, made_at: madeAt },
    signatures: NO_SIGNATURES,
    callback_seq: recipient ? await enqueueManifest(context, trx, recipient, webhookId) : null,
  };
  const { insertId } = await trx.insertInto('day_manifests').values(row).executeTakeFirstOrThrow();
  await queueLeaf(trx, { kind: 'day', ref: requireRowNumber(insertId, 'a day manifest'), hash: hashLeaf(payload) });
  return true;
}

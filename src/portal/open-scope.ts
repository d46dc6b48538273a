/**
 * The scope of a request of the portal: what the merchant of its token may read and change. It alone holds the database.
 * Each function passes on the row number of that merchant, and none takes a merchant from the request.
 */
import { createSecretKey } from 'node:crypto';
import { audit, auditParts, auditShown } from '../access/audit.ts';
import { findMerchantSession } from '../access/sessions.ts';
import { findMerchantToken, type MerchantCaller } from '../access/tokens.ts';
import { countBackfill } from '../callbacks/backfill/count-backfill.ts';
import { CHALLENGE_ANSWER, challengeAddress, PRIVATE } from '../callbacks/deliver/challenge-address.ts';
import { presentAttempt, presentOwnCallback } from '../callbacks/manage/present-callback.ts';
import { previewFilter } from '../callbacks/manage/preview-filter.ts';
import { listAttempts } from '../callbacks/manage/read-callbacks.ts';
import { closedBreaker, countToOldAddress, readDelivery } from '../callbacks/manage/read-delivery.ts';
import { type FeedPage, readFeed } from '../callbacks/manage/read-feed.ts';
import { readMessage } from '../callbacks/manage/read-message.ts';
import { findOwnCallback, listOwnCallbacks, type OwnCallbackQuery } from '../callbacks/manage/read-own-callbacks.ts';
import { findHold } from '../callbacks/manage/redeliver.ts';
import {
  describeParts,
  findFirstFailed,
  previewReplay,
  type ReplayRequest,
  replay,
} from '../callbacks/manage/replay.ts';
import { renderRows } from '../callbacks/render/render-bodies.ts';
import { type Example, readExample } from '../callbacks/render/render-examples.ts';
import type { Context } from '../context.ts';
import { limitReads } from '../database/limit-statement-time.ts';
import { listPlatformNames } from '../database/shared/list-platform-names.ts';
import { addDays, type Day } from '../domain/calendar.ts';
import type { ConfereError } from '../domain/errors.ts';
import { listManifestDays } from '../manifests/list-manifest-days.ts';
import { readManifest, readManifestIds } from '../manifests/read-manifests.ts';
import { checkFilter } from '../merchants/check-filter.ts';
import { countRequest } from '../merchants/count-request.ts';
import { completeFilter, type FilterInput, isWithin, parseFilter, takesPlatform } from '../merchants/match-filter.ts';
import { type MerchantRow, selectMerchants } from '../merchants/read-merchants.ts';
import { deriveTestKey, formatSecret, readCredentials, readOlderUntil, testOlderUntil } from '../merchants/secrets.ts';
import { refuseField } from '../texts/refuse.ts';
import {
  type AskedAddress,
  assertNoneWaits,
  checkAddress,
  countsAtOnce,
  isMailed,
  listWaiting,
  presentAddressChange,
} from './address-changes.ts';
import { readAttemptAddresses } from './attempt-addresses.ts';
import { listChanges, type OwnChanges } from './own-changes.ts';
import { type OwnAction, readOwnHistory } from './read-own-history.ts';

/** How long a preview counts what a wider filter would send. */
const PAST_MS_MAX = 3_000;

export type MerchantScope = ReturnType<typeof openScope>;
/** The process, as the portal's routes and pages see it beside the scope of a request: no database. */
export type PortalContext = Pick<Context, 'calendar' | 'clock' | 'config'>;
/** `from`, `to`: days of the callbacks' creation, both included. */
export type OwnSearch = Omit<OwnCallbackQuery, 'from' | 'to'> & { from?: Day | undefined; to?: Day | undefined };
export type OwnRange = Pick<ReplayRequest, 'from' | 'to' | 'by' | 'states' | 'tests'>;
/** Where a request came from, for the audit. */
type Via = 'portal' | undefined;

/** @returns the scope of a merchant's token; undefined if the token or the merchant has ended. */
export async function findScopeByToken(context: Context, token: string): Promise<MerchantScope | undefined> {
  return await findScope(context, await findMerchantToken(context, token), undefined);
}

/** @returns the scope of a session of the portal, as `findSession`; undefined if the session, its token or the merchant has ended. */
export async function findScopeBySession(
  context: Context,
  session: string,
  isActive: boolean,
): Promise<MerchantScope | undefined> {
  return await findScope(context, await findMerchantSession(context, session, isActive), 'portal');
}

async function findScope(context: Context, caller: MerchantCaller | undefined, via: Via) {
  if (!caller) return undefined;
  const query = selectMerchants(context.db).where('merchants.seq', '=', caller.merchantSeq);
  const merchant = await query.executeTakeFirst();
  return merchant && openScope(context, { caller, merchant, via });
}

function openScope(context: Context, own: { caller: MerchantCaller; merchant: MerchantRow; via: Via }) {
  const { caller, merchant, via } = own;
  const { seq, id } = merchant;
  const reading = limitReads(context);
  const describe = (action: string, target: string, detail?: string) => {
    const text = [via, detail].filter((part) => part !== undefined).join(' ');
    return { actor: caller.id, action, target, ...(text === '' ? {} : { detail: text }) };
  };
  return {
    /** As it was when the request began. */
    merchant,
    /** The id and the name of the token. */
    actor: caller.id,
    tokenName: caller.name,
    /** The sources of expected payments that the token reads and writes. */
    sources: caller.sources,
    /** Why nothing is sent to the merchant now; undefined if it is sent. */
    hold: findHold(merchant),
    ...ownReads(context, reading, { seq, merchant }),
    ...ownAddresses(context, reading, merchant),

    /** A callback with its attempts and the body as it would be sent now; audited, since it shows a person. */
    async showCallback(webhookId: string) {
      const row = await findOwnCallback(reading.db, seq, webhookId);
      const attempts = await listAttempts(reading.db, row.seq);
      const transactions = row.transaction_id === null ? [] : [row.transaction_id];
      const done = { actor: caller.id, action: 'callbacks.show', target: `cb_${row.seq}` } as const;
      await auditShown(context, done, { transactions, via });
      return {
        ...{ callback: presentOwnCallback(row), step: row.step },
        attempts: attempts.map((one) => presentAttempt(one, { withBody: true })),
        readAddresses: () => readAttemptAddresses(reading.db, merchant, { attempts, row }),
        closedBreaker: () => closedBreaker(reading.db, row),
        message: await readMessage(reading, row, merchant.format),
      };
    },

    /** A page of the feed, which acknowledges nothing; audited, since it shows persons. @throws ConfereError `unavailable`. */
    async peekFeed(page: Omit<FeedPage, 'peek'>): Promise<Awaited<ReturnType<typeof readFeed>>> {
      const read = await readFeed(reading, merchant, { ...page, peek: true });
      const transactions = read.items.flatMap(({ body }) => transactionOf(body) ?? []);
      const done = { actor: caller.id, action: 'callbacks.show', target: 'events' } as const;
      if (read.items.length > 0) await auditShown(context, done, { transactions: [...new Set(transactions)], via });
      return read;
    },

    /** An example of a message; audited, since the merchant's newest one shows a person. */
    async showExample(type: string): Promise<Example> {
      const example = await readExample(reading, merchant, type, (rows) => renderRows(reading, rows));
      const id = transactionOf(example.body);
      const transactions = id !== undefined && example.repeats !== undefined ? [id] : [];
      await auditShown(context, { actor: caller.id, action: 'callbacks.show', target: type }, { transactions, via });
      return example;
    },

    /** The changes in a transaction that somebody else audits. */
    changesIn: (inner: Context): OwnChanges => listChanges(inner, merchant, caller.id),

    /** Audits a request that changes nothing itself. */
    record: (action: string, detail: string) => audit(context, describe(action, id, detail)),

    /** Sends a range again, each part of it in a transaction of its own. @throws ConfereError `conflict`. */
    replay: (range: OwnRange): Promise<number> => {
      const detailOf = describeParts(range);
      const inParts = auditParts(context, (count) => describe('callbacks.replayed', id, detailOf(count)));
      return replay(context, { ...range, merchant: id, dryRun: false }, inParts);
    },
  };
}

/** The id of the transaction that a message is about. */
function transactionOf(body: object): string | undefined {
  return (body as { data?: { transaction?: { id: string } } }).data?.transaction?.id;
}

function ownReads(context: Context, reading: Context, { seq, merchant }: { seq: number; merchant: MerchantRow }) {
  return {
    /** A page of callbacks, newest first. @throws ConfereError `invalid_request` for a wrong cursor. */
    async listCallbacks({ from, to, ...terms }: OwnSearch, page: { limit: number; after: string | undefined }) {
      const startOf = (day: Day | undefined) => (day === undefined ? undefined : context.calendar.startOfDay(day));
      const days = { from: startOf(from), to: startOf(to === undefined ? undefined : addDays(to, 1)) };
      const { rows, next } = await listOwnCallbacks(reading.db, seq, { ...terms, ...days }, page);
      return { callbacks: rows.map(presentOwnCallback), next };
    },
    /** A page of what changed, the newest first. @throws ConfereError `invalid_request` for a wrong cursor. */
    listHistory: (filter: { action?: OwnAction | undefined }, page: { limit: number; after: string | undefined }) =>
      readOwnHistory(reading.db, merchant, { ...filter, ...page }),
    /** The last days, the newest first, each with its newest manifest, or with what becomes of it. */
    listManifests: () => listManifestDays(reading, merchant),
    /** The signed manifest of a day; and its webhook-ids, each on a line. @throws ConfereError `not_found`. */
    readManifest: (day: Day) => readManifest(reading, seq, { day }),
    readManifestIds: (day: Day) => readManifestIds(reading, seq, { day }),
    /** Until when the secret before that of an address signs: there is no rotation until then. */
    async readRotationWait(of: 'url' | 'test_url'): Promise<Date | null> {
      const now = context.clock.now();
      return of === 'url' ? await readOlderUntil(reading.db, seq, now) : testOlderUntil(merchant, now);
    },
    /** The names of platforms by id, of those alone whose events operators let it receive. */
    async readPlatformNames(): Promise<ReadonlyMap<string, string>> {
      const allowed = parseFilter(merchant.filter);
      const named = (await listPlatformNames(reading.db)).filter(({ platform }) => takesPlatform(allowed, platform));
      return new Map(named.map(({ platform, name }) => [platform, name]));
    },
    /** How callbacks reach the merchant. */
    readDelivery: () => readDelivery(reading, merchant),
    /** When its first callback that failed for good was created. */
    findFirstFailed: () => findFirstFailed(reading.db, seq),
    /** Counts what a replay would send. */
    previewReplay: (range: OwnRange) => previewReplay(reading, { ...range, merchant: merchant.id }),
    /**
     * Which of the last events that operators let it receive a filter of its own would match, and what that changes; `past`:
     * what would be sent of past events, null if it is no wider.
     */
    async previewFilter(filter: FilterInput) {
      checkFilter(filter);
      countRequest(context, 'preview', merchant.id);
      const allowed = { filter: parseFilter(merchant.filter), since: merchant.events_since };
      const [own, before] = [completeFilter(filter), parseFilter(merchant.own_filter ?? '{}')];
      const wanted = { filters: [allowed.filter, own], eventsSince: allowed.since, countMsMax: PAST_MS_MAX };
      // `transactions` counts those of others too
      const count = isWithin(own, before) ? undefined : await countBackfill(context, merchant, wanted);
      const past = count ? { callbacks: count.callbacks, complete: count.complete } : null;
      return { ...(await previewFilter(context, [own], { before: { seq, filters: [before] }, allowed })), past };
    },
  };
}

function ownAddresses(context: Context, reading: Context, merchant: MerchantRow) {
  const { seq, id } = merchant;
  return {
    /** Whether a mailed link confirms its changes of address, not an admin. */
    isMailed: isMailed(context, merchant),
    /** Whether nobody confirms a change. */
    countsAtOnce: (asked: AskedAddress) => countsAtOnce(context, merchant, asked),
    /** Checks it, and returns the secret that signs for a test address, also for the one of today. @throws ConfereError as `askAddressChange`. */
    async checkAddress(asked: AskedAddress): Promise<string | undefined> {
      const { kind, value } = asked;
      const isShown = kind === 'test_url' && value !== null && value === merchant.test_url;
      if (!isShown) {
        checkAddress(context, merchant, asked);
        await assertNoneWaits(context, reading.db, id, kind);
      }
      return kind === 'test_url' && value !== null
        ? formatSecret({ key: deriveTestKey(context, merchant, value) })
        : undefined;
    },

    /**
     * Checks what the merchant asks to change, and has a new address answer a challenge. No transaction may wait for it.
     * @returns the refusal of one that did not answer. @throws ConfereError `invalid_request`, `conflict`, `too_many_requests`.
     */
    async proveAddress(asked: AskedAddress): Promise<ConfereError | undefined> {
      checkAddress(context, merchant, asked);
      await assertNoneWaits(context, reading.db, id, asked.kind);
      countRequest(context, 'address', id);
      const { kind, value } = asked;
      if (kind === 'email' || value === null) return undefined;
      const { keys = [] } = (await readCredentials(context, reading.db, [seq])).get(seq) ?? {};
      const signing = kind === 'url' ? keys : [createSecretKey(deriveTestKey(context, merchant, value))];
      const why = await challengeAddress(context, value, signing);
      const body = CHALLENGE_ANSWER;
      if (why === PRIVATE) return refuseField('value', 'address_unanswered_privately', { body });
      return why === undefined ? undefined : refuseField('value', 'address_unanswered', { why, body });
    },
    /** Counts what still goes to the URL before. */
    countToOldAddress: () => countToOldAddress(reading, merchant),
    /** Its changes of address that wait. */
    listAddressChanges: async () =>
      (await listWaiting(context, reading.db, { merchant: id })).map(presentAddressChange),
  };
}

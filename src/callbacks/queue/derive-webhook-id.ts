import { createHmac, type KeyObject, randomBytes } from 'node:crypto';
import type { StoredEvent } from '../../domain/sort-history.ts';

const ID_BYTES = 16;

/** Takes the place of the status in the `type` of a correction's callback. */
export const CORRECTED = 'corrected';

type Subject = { merchantId: string; transactionId: string };

/**
 * Derives the `webhook-id` of an event for a merchant from its content: its status, and which time that comes. So other content has
 * another id, and a restored database, a replay or another order of learning gives the same one. The derivation is keyed, so that
 * nobody can predict an id.
 * @param event.number null: learnt by a version that derived the id from the event's time.
 */
export function deriveEventId(
  key: KeyObject,
  { merchantId, transactionId }: Subject,
  event: Pick<StoredEvent, 'status' | 'number' | 'atWall' | 'occurrence'>,
): string {
  const facts = event.number === null ? [event.atWall, event.occurrence] : [event.number];
  return formatId(key, [merchantId, transactionId, event.status, ...facts]);
}

/**
 * Derives the `webhook-id` of a correction for a merchant from its content, and which time that comes.
 * @param correction.content null: made by a version that derived the id from the sequence number.
 */
export function deriveCorrectionId(
  key: KeyObject,
  { merchantId, transactionId }: Subject,
  { sequence, content }: { sequence: number; content: CorrectionContent | null },
): string {
  const facts = content ? [content.hash.toString('hex'), content.number] : ['', sequence];
  return formatId(key, [merchantId, transactionId, CORRECTED, ...facts]);
}

/** `hash`: keyed digest of the facts before and after; `number`: which time the transaction is corrected so, from 1. */
export type CorrectionContent = { hash: Buffer; number: number };

/** Returns the digest of a correction's facts. It is keyed: the facts may hold what is erased later. */
export function digestContent(key: KeyObject, { before, after }: { before: string; after: string }): Buffer {
  return digest(key, [before, after]);
}

function formatId(key: KeyObject, facts: unknown[]): string {
  return `msg_${digest(key, facts).subarray(0, ID_BYTES).toString('hex')}`;
}

function digest(key: KeyObject, facts: unknown[]): Buffer {
  return createHmac('sha256', key).update(JSON.stringify(facts)).digest();
}

/** A match of an expected payment, as a callback shows it. */
type ExpectedMatch = { transactionId: string; amountCents: bigint; rule: string };

/** Returns the digest of what the callback of a change of an expected payment says. The order of its matches is no part of it. */
export function digestExpected(
  key: KeyObject,
  change: { state: string; version: number; settledCents: bigint; returnedCents: bigint; matches: ExpectedMatch[] },
): Buffer {
  const matches = change.matches.map(
    ({ transactionId, amountCents, rule }) => `${transactionId} ${amountCents} ${rule}`,
  );
  const { state, version, settledCents, returnedCents } = change;
  return digest(key, [state, version, String(settledCents), String(returnedCents), ...matches.sort()]);
}

/** Derives the `webhook-id` of a change of an expected payment. @param content `number`: which time the digest comes, from 1. */
export function deriveExpectedId(
  key: KeyObject,
  { merchantId, expectedId }: { merchantId: string; expectedId: string },
  { hash, number }: CorrectionContent,
): string {
  return formatId(key, ['expected', merchantId, expectedId, hash.toString('hex'), number]);
}

/** Derives the `webhook-id` of a revision of a day manifest: after a restore, one with other facts has another id. */
export function deriveManifestId(
  key: KeyObject,
  manifest: { merchantId: string; day: string; revision: number; factsHash: Buffer },
): string {
  const facts = ['manifest', manifest.merchantId, manifest.day, manifest.revision, manifest.factsHash.toString('hex')];
  return formatId(key, facts);
}

/** The `webhook-id` of a test callback, which has no event: random. */
export function generateWebhookId(): string {
  return `msg_${randomBytes(ID_BYTES).toString('hex')}`;
}

import { maskPlatform, maskText } from '../domain/person/mask-person.ts';
import type { CallbackFormat } from './callback-formats.ts';
import type { PausedBy } from './change-merchants.ts';
import { parseFilter } from './match-filter.ts';
import { headerNamesOf, type MerchantRow } from './read-merchants.ts';
import { AUTHORIZATION } from './request-headers.ts';

export type PresentedMerchant = ReturnType<typeof presentMerchant>;

/** A merchant as the API shows it, without its secret: only creation and rotation return that, once. */
export function presentMerchant(row: MerchantRow) {
  const headers = headerNamesOf(row);
  const { expected: _, ...ownFilter } = parseFilter(row.own_filter ?? '{}');
  return {
    id: row.id,
    name: row.name,
    url: row.url,
    /** Where its tests and examples go; null: to `url`. */
    test_url: row.test_url,
    format: row.format as CallbackFormat,
    /** The values of headers are never shown. */
    has_bearer_token: headers.includes(AUTHORIZATION),
    header_names: headers.filter((name) => name !== AUTHORIZATION),
    email: row.email,
    state: row.state,
    disabled_reason: row.state === 'disabled' ? row.disabled_reason : null,
    paused_by: row.state === 'paused' ? ((row.paused_by ?? 'operator') as PausedBy) : null,
    filter: parseFilter(row.filter),
    /** The merchant's own choice within `filter`. */
    own_filter: ownFilter,
    rate: row.rate,
    /** Whether its day manifests are sent to it. */
    manifests: row.manifests === 1,
    events_since: row.events_since.toISOString(),
    created_at: row.created_at.toISOString(),
    /** Since when no attempt has succeeded, and whether its callbacks are held for that. */
    failing_since: row.failing_since?.toISOString() ?? null,
    breaker: row.breaker_opened_at === null ? ('closed' as const) : ('open' as const),
    backfill: presentBackfill(row),
    /** When a merchant that fetches its events last did, and when its token ends. */
    pulled_at: row.pulled_at?.toISOString() ?? null,
    pull_token_expires_at: row.pull_token_expires_at?.toISOString() ?? null,
  };
}

/**
 * A merchant as it sees itself. A backfill reads the transactions of all merchants: how many it has read, and how far it
 * is, would show how much others have.
 */
export function presentOwnMerchant(row: MerchantRow) {
  const { backfill, ...merchant } = presentMerchant(row);
  if (backfill === null) return { ...merchant, backfill };
  const { reached: _, done: __, ...own } = backfill;
  return { ...merchant, backfill: own };
}

/**
 * The progress of enqueuing callbacks of events that the ledger knew before. `done`: transactions so far; `enqueued`:
 * callbacks so far; `reached`: the provider's wall time up to which it has read.
 */
function presentBackfill(row: MerchantRow) {
  if (row.backfill_state === null || row.backfill_since === null) return null;
  const stored = row.backfill_state;
  const state: 'waiting' | 'running' | 'done' = stored === 'waiting' || stored === 'done' ? stored : 'running';
  return {
    state,
    from: row.backfill_since.toISOString(),
    reached: row.cursor_wall,
    done: Number(row.backfill_done),
    enqueued: Number(row.enqueued),
    started_at: row.started_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}

/**
 * The merchant for viewers: only the origin of its URL, as paths and queries may hold keys; no e-mail. The name, as of a
 * one-person firm, and the values of the filter may name a person.
 */
export function maskMerchant(merchant: PresentedMerchant): PresentedMerchant {
  return {
    ...merchant,
    name: maskText(merchant.name),
    url: maskUrl(merchant.url),
    test_url: maskUrl(merchant.test_url),
    email: null,
    header_names: merchant.header_names.map((name) => maskText(name)),
    filter: maskFilter(merchant.filter),
    own_filter: maskFilter(merchant.own_filter),
  };
}

function maskUrl(url: string | null): string | null {
  return url === null ? null : maskText(new URL(url).origin);
}

function maskFilter<T extends PresentedMerchant['own_filter']>(filter: T): T {
  const mask = <T>(value: T): T | string => (typeof value === 'boolean' ? value : maskText(String(value)));
  const extra = Object.entries(filter.extra_match).map(([name, value]) => {
    const masked = mask(value);
    return [maskText(name), masked === String(value) ? value : masked] as const;
  });
  return {
    ...filter,
    platforms: filter.platforms.map((platform) => maskPlatform(platform)),
    statuses: filter.statuses.map((status) => maskText(status)),
    reference_prefixes: filter.reference_prefixes.map((prefix) => maskText(prefix)),
    extra_prefixes: filter.extra_prefixes.map((prefix) => maskText(prefix)),
    extra_match: Object.fromEntries(extra),
  };
}

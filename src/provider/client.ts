/**
 * Client of the provider's four endpoints. Reads are retried while that may help. A create is never retried: after a
 * time-out the caller must look up the transaction by reference. The API key is sent to PROVIDER_URL only; of
 * `next_page_url` only the page number is used.
 */
import { createHash } from 'node:crypto';
import type { Agent } from 'undici';
import { z } from 'zod';
import type { Day } from '../domain/calendar.ts';
import { readList, readTextOrNumber } from '../domain/exact-json.ts';
import { formatAmount } from '../domain/money.ts';
import { message } from '../texts/messages.ts';
import { SYSTEM_TIMERS, type Timers } from '../timers.ts';
import { type ParsedRow, parseTransaction } from './parse-transaction.ts';
import { ProviderError } from './provider-error.ts';
import { createRequestScheduler, type Priority, type RequestScheduler, type TokenBucket } from './schedule-requests.ts';
import { createAgent, get, type ProviderResponse, post, type Transport } from './send-request.ts';
import { createHealthTracker, type HealthTracker } from './track-health.ts';

export const CONNECTIONS_MAX = 16;

export type ListQuery = {
  initialDate?: Day;
  finalDate?: Day;
  platform?: string;
  reference?: string;
  status?: string;
};

/** A shown transaction, and when the answered request was sent, by the database's clock. */
export type ShownRow = ParsedRow & { askedAt: Date };

export type ListPage = {
  page: number;
  /** When the answered request was sent, by the database's clock. */
  askedAt: Date;
  rows: ParsedRow[];
  total: number;
  lastPage: number;
  /** The next page, by `next_page_url`; undefined at the end. */
  nextPage: number | undefined;
  /** SHA-256 of the raw answer, for the evidence of the page. */
  bodyHash: Buffer;
};

export type CashinRequest = {
  name: string;
  email: string;
  phone: string;
  description: string;
  document: string;
  amountCents: bigint;
  platform: string;
  reference: string;
  extra?: string;
};
export type KeyType = 'CPF' | 'PHONE' | 'EMAIL' | 'EVP' | 'CNPJ';
export type CashoutRequest = CashinRequest & { pixKey: string; keyType: KeyType };

export type ProviderClient = {
  /** One transaction; undefined when the provider does not know the id (404, or any 4xx that is about the id alone). */
  show(id: string, options?: { triesMax?: number }): Promise<ShownRow | undefined>;
  /** One page of the list; undefined when it is beyond the last (404, 422). */
  listPage(query: ListQuery, page: number, options?: { triesMax?: number }): Promise<ListPage | undefined>;
  /** Creates a transaction; never sent twice. @throws ProviderError `provider_rejected` with the provider's code. */
  createCashin(request: CashinRequest): Promise<ShownRow>;
  createCashout(request: CashoutRequest): Promise<ShownRow>;
  scheduler: RequestScheduler;
  /** How the provider answered this process lately. */
  health: HealthTracker;
  /** Returns the client with another priority; the default is `verification`. */
  withPriority(priority: Priority, onRequest?: () => void): ProviderClient;
  [Symbol.asyncDispose](): Promise<void>;
};

export function createProviderClient(options: {
  url: string;
  apiKey: string;
  signal: AbortSignal;
  agent?: Agent;
  /** Limits what all replicas together may send. Undefined: no limit but the provider's own. */
  tokenBucket?: TokenBucket | undefined;
  timers?: Timers;
  /** The clock that dates requests. Must be the database's clock where answers are applied. */
  now?: () => Date;
}): ProviderClient {
  const agent = options.agent ?? createAgent(CONNECTIONS_MAX);
  const { timers = SYSTEM_TIMERS, now = () => new Date() } = options;
  const scheduler = createRequestScheduler(CONNECTIONS_MAX, options.tokenBucket, timers);
  const { url: baseUrl, apiKey, signal } = options;
  const onRequest = (): void => undefined;
  return clientOf({
    baseUrl,
    apiKey,
    agent,
    scheduler,
    health: createHealthTracker(timers),
    signal,
    timers,
    now,
    priority: 'verification',
    onRequest,
  });
}

function clientOf(transport: Transport): ProviderClient {
  return {
    scheduler: transport.scheduler,
    health: transport.health,
    withPriority: (priority, onRequest = transport.onRequest) => clientOf({ ...transport, priority, onRequest }),
    show: (id, more) => show(transport, id, more?.triesMax),
    listPage: (query, page, more) => listPage(transport, query, page, more?.triesMax),
    createCashin: (request) => create(transport, 'cashin', request, {}),
    createCashout: (request) =>
      create(transport, 'cashout', request, { pix_key: request.pixKey, key_type: request.keyType }),
    [Symbol.asyncDispose]: () => transport.agent.close(),
  };
}

const wrapped = z.object({ transaction: z.union([z.array(z.unknown()), z.record(z.string(), z.unknown())]) });

async function show(transport: Transport, id: string, triesMax?: number): Promise<ShownRow | undefined> {
  try {
    const path = `/api/v1/transaction/${encodeURIComponent(id)}`;
    const row = await get(transport, path, ({ body: answer, askedAt }) => ({ ...readOne(answer), askedAt }), triesMax);
    const shown = row.ok ? row.transaction.id : row.id;
    if (shown !== null && shown.toLowerCase() !== id.toLowerCase()) {
      throw new ProviderError('provider_unreadable', message('provider.another'));
    }
    // a row without a readable id gets the requested id, so that a later show of it can resolve its mismatch
    return row.ok || row.id !== null ? row : { ...row, id };
  } catch (error) {
    // any 4xx concerns this id alone, except 401 and those that are retried
    const aboutId = error instanceof ProviderError && ['provider_not_found', 'provider_rejected'].includes(error.code);
    if (aboutId) return undefined;
    throw error;
  }
}

function readOne(answer: unknown): ParsedRow {
  const parsed = wrapped.safeParse(answer);
  const shown = parsed.success ? parsed.data.transaction : [];
  const rows = readList(shown) ?? [shown];
  if (rows.length !== 1) {
    // an empty array also says that the id is unknown
    const code = rows.length === 0 && parsed.success ? 'provider_not_found' : 'provider_unreadable';
    throw new ProviderError(code, message('provider.several', { n: rows.length }));
  }
  return parseTransaction(rows[0]);
}

/** Larger announced counts are capped at this: no list is as long, and it fits the columns of pages and windows. */
const COUNT_MAX = 1_000_000_000;

/** A number, or its text. Not z.coerce: that turns null into 0, and an answer without a total would prove an empty day. */
const count = z
  .unknown()
  .transform((value) => readTextOrNumber(value) ?? '')
  .pipe(z.string().regex(/^\d{1,16}(?:\.0+)?$/))
  .transform(Number)
  .refine((value) => Number.isSafeInteger(value) && value >= 0)
  .transform((value) => Math.min(COUNT_MAX, value));
const listShape = z.object({
  transactions: z.unknown().transform(readList).pipe(z.array(z.unknown())),
  total: count,
  last_page: count.optional().catch(undefined),
  next_page_url: z.unknown().optional(),
});

async function listPage(
  transport: Transport,
  query: ListQuery,
  page: number,
  triesMax?: number,
): Promise<ListPage | undefined> {
  try {
    const path = `/api/v1/transactions?${toSearch(query, page).toString()}`;
    return await get(transport, path, (answer) => readPage(answer, page), triesMax);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    if (error.status === 403) {
      throw new ProviderError('provider_unauthorized', message('provider.key_forbidden'), {
        status: 403,
        cause: error,
      });
    }
    const beyond = page > 1 && (error.status === 404 || error.status === 422);
    if (beyond) return undefined;
    throw error;
  }
}

function readPage({ body: answer, text, askedAt }: ProviderResponse, page: number): ListPage {
  const parsed = listShape.safeParse(answer);
  if (!parsed.success) throw new ProviderError('provider_unreadable', message('provider.list_shape'));
  return {
    page,
    askedAt,
    rows: parsed.data.transactions.map(parseTransaction),
    total: parsed.data.total,
    lastPage: parsed.data.last_page ?? 1,
    nextPage: readPageNumber(parsed.data.next_page_url),
    bodyHash: createHash('sha256').update(text).digest(),
  };
}

function toSearch(query: ListQuery, page: number): URLSearchParams {
  const search = new URLSearchParams();
  if (query.initialDate) search.set('initial_date', query.initialDate);
  if (query.finalDate) search.set('final_date', query.finalDate);
  if (query.platform) search.set('platform', query.platform);
  if (query.reference) search.set('reference', query.reference);
  if (query.status) search.set('status', query.status);
  search.set('page', String(page));
  return search;
}

/** Reads the page number only: the URL may name another host, and omits a part of the path. */
function readPageNumber(url: unknown): number | undefined {
  if (typeof url !== 'string') return undefined;
  const match = /[?&]page=(\d{1,9})(?:&|$)/.exec(url);
  return match ? Number(match[1]) : undefined;
}

async function create(
  transport: Transport,
  operation: 'cashin' | 'cashout',
  request: CashinRequest,
  more: Record<string, string>,
): Promise<ShownRow> {
  const { amountCents, ...fields } = request;
  const { pixKey: _, keyType: __, ...common } = fields as CashoutRequest;
  // a JSON number with two decimals, as the API requires; written as text, so that no float ever holds money
  const body = JSON.stringify({ ...common, ...more }).replace(/\}$/, `,"amount":${formatAmount(amountCents)}}`);
  const { body: answer, askedAt } = await post(transport, `/api/v1/transaction/pix/${operation}`, body);
  return { ...readOne(answer), askedAt };
}

import { Counter, Gauge, Registry } from 'prom-client';
import type { Context } from '../context.ts';
import { limitStatementTime } from '../database/limit-statement-time.ts';
import { describeError } from '../log.ts';
import { registry } from '../metrics/metrics.ts';
import type { Reading } from '../metrics/reading.ts';
import { createSemaphore } from '../runtime/semaphore.ts';

const CACHE_MS = 15_000;
/** A read that takes long is repeated less often, so that it occupies at most 5 % of one connection. */
const PAUSE_FACTOR = 20;
const CACHE_MS_MAX = 60_000;
const STATEMENT_MS_MAX = 3_000;
/** A reader that takes longer is left out of this scrape, and its result is there for the next: Prometheus waits for 10 s. */
const SCRAPE_MS_MAX = 5_000;

/** A page is shared by the scrapes of this time: rendering it takes milliseconds in which nobody else is served. */
const PAGE_MS = 1_000;
/** Readers at work: a scrape takes few of the pool's connections. */
const READS_MAX = 3;

/** Reads metrics at a scrape. */
export type MetricReader = (context: Context) => Promise<Reading[]>;
/** By the name that `confere_scrape_failed` shows. */
export type MetricReaders = Record<string, MetricReader>;

/**
 * Returns a function that renders `/metrics`: the metrics of this process, then what each reader reads. A reading is
 * cached for 15 s, or up to a minute where it takes long, and concurrent scrapes share it. Where a reader fails, its
 * metrics are absent, neither 0 nor old, and `confere_scrape_failed{reader}` is 1. The page itself is shared for a second.
 */
export function createMetricsPage(context: Context, readers: MetricReaders): () => Promise<string> {
  const limited = { ...context, db: limitStatementTime(context.db, STATEMENT_MS_MAX) };
  const inTurn = createSemaphore(READS_MAX);
  const cached = Object.entries(readers).map(
    ([reader, read]) => [reader, cacheReadings(context, reader, () => inTurn(() => read(limited)))] as const,
  );
  return sharePage(context.timers, async () => {
    const scraped = new Registry();
    const failed = new Gauge({
      name: 'confere_scrape_failed',
      help: '1 where a reader of this process failed at this scrape: its metrics are absent.',
      labelNames: ['reader'],
      registers: [scraped],
    });
    const read = await Promise.all(cached.map(async ([reader, readings]) => ({ reader, readings: await readings() })));
    for (const { reader, readings } of read) {
      failed.set({ reader }, readings ? 0 : 1);
      for (const reading of readings ?? []) addReading(scraped, reading);
    }
    return `${await registry.metrics()}\n${await scraped.metrics()}`;
  });
}

/** @returns a function that renders a page, or returns the one that is being rendered or is younger than PAGE_MS. */
export function sharePage(timers: Context['timers'], render: () => Promise<string>): () => Promise<string> {
  let page: Promise<string> | undefined;
  let endsAtMs = 0;

  async function renderNext(): Promise<string> {
    endsAtMs = Number.POSITIVE_INFINITY;
    try {
      const text = await render();
      endsAtMs = timers.monotonicMs() + PAGE_MS;
      return text;
    } catch (error) {
      page = undefined;
      throw error;
    }
  }

  return () => {
    if (!page || timers.monotonicMs() >= endsAtMs) page = renderNext();
    return page;
  };
}

/** @returns a function that reads, or returns what was read before; undefined after a failure. */
function cacheReadings(
  { timers, log }: Context,
  reader: string,
  read: () => Promise<Reading[]>,
): () => Promise<Reading[] | undefined> {
  let readings: Promise<Reading[] | undefined> = Promise.resolve(undefined);
  let nextAtMs = Number.NEGATIVE_INFINITY;

  async function start(): Promise<Reading[] | undefined> {
    const beganMs = timers.monotonicMs();
    nextAtMs = Number.POSITIVE_INFINITY;
    let cacheMs = CACHE_MS;
    try {
      const result = await read();
      cacheMs = Math.min(CACHE_MS_MAX, Math.max(CACHE_MS, (timers.monotonicMs() - beganMs) * PAUSE_FACTOR));
      return result;
    } catch (error) {
      log.warn({ error: describeError(error), reader }, 'metrics could not be read; a scrape in 15 s tries again');
      return undefined;
    } finally {
      nextAtMs = timers.monotonicMs() + cacheMs;
    }
  }

  return async () => {
    if (timers.monotonicMs() >= nextAtMs) readings = start();
    const over = new AbortController();
    const late = timers.sleep(SCRAPE_MS_MAX, { signal: over.signal, ref: false }).then(
      () => undefined,
      () => undefined,
    );
    return await Promise.race([readings, late]).finally(() => over.abort());
  };
}

function addReading(register: Registry, { name, help, type, values }: Reading): void {
  const list = typeof values === 'number' ? [{ labels: {}, value: values }] : values;
  const options = { name, help, labelNames: Object.keys(list[0]?.labels ?? {}), registers: [register] };
  if (type === 'counter') {
    const counter = new Counter(options);
    for (const { labels, value } of list) counter.inc(labels, value);
    return;
  }
  const gauge = new Gauge(options);
  for (const { labels, value } of list) gauge.set(labels, value);
}

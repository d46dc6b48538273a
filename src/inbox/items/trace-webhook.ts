import { currentTraceparent, isTracing, type SpanOptions } from '../../tracing/in-span.ts';

/**
 * The trace context of a webhook's receipt is stored among its headers, under a name of ours: so it goes through the spool and
 * the INSERT as the headers do. What the sender calls its `traceparent` is not stored.
 */
const HEADER = 'confere-traceparent';

/** Adds the active span to the headers to store, where there is one. */
export function addTraceparent(headers: Record<string, string>): void {
  const traceparent = currentTraceparent();
  if (traceparent !== undefined) headers[HEADER] = traceparent;
}

export function traceparentIn(headers: Record<string, string>): string | undefined {
  return headers[HEADER];
}

/** @param headers as stored: JSON. */
export function readTraceparent(headers: string | undefined): string | undefined {
  try {
    return headers === undefined ? undefined : traceparentIn(JSON.parse(headers) as Record<string, string>);
  } catch {
    // a trace is worth no failure
    return undefined;
  }
}

/** The trace of items that one fetch verifies: that of the first one's webhook, with links to the others'. */
export function traceOf(items: { traceparent: string | undefined }[]): SpanOptions {
  if (!isTracing()) return {};
  const [first, ...others] = items;
  return { parent: first?.traceparent, links: [...new Set(others.map((item) => item.traceparent))] };
}

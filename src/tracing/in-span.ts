/**
 * OpenTelemetry spans, at a few places of the flow. Start here; start-tracing.ts loads the SDK. While tracing is off (without
 * OTEL_EXPORTER_OTLP_ENDPOINT) every function only calls its work, and the SDK is not loaded.
 *
 * One webhook is one trace, also where several processes and batches work on it: the trace context of a span is stored with
 * the row that another process takes over (`currentTraceparent`), and is the parent of the span there. A span's attributes
 * are ids, counts and outcomes: no personal data, reference, extra or address.
 */
import type { Attributes, Context, Link, Span, Tracer } from '@opentelemetry/api';

export type OpenTelemetry = { api: typeof import('@opentelemetry/api'); tracer: Tracer };
export type SpanOptions = {
  kind?: 'server' | 'client';
  /** The stored trace context of what caused this work. Within a span it is ignored: that span is the parent. */
  parent?: string | null | undefined;
  /** Trace contexts of related work that is not the cause. */
  links?: (string | null | undefined)[];
  /** Adds the span to a trace, and begins none. */
  isPart?: boolean;
};

/** Gets the span to add attributes to; undefined while tracing is off. */
export type SpanWork<T> = (span?: Span) => Promise<T>;

let on: OpenTelemetry | undefined;

/** Turns tracing on, or with undefined off. Called by start-tracing.ts alone. */
export function setOpenTelemetry(loaded: OpenTelemetry | undefined): void {
  on = loaded;
}

export function isTracing(): boolean {
  return on !== undefined;
}

/** Calls `work` within a span. An error marks the span with its class or code, never with its message, and is thrown on. */
export async function inSpan<T>(
  name: string,
  attributes: Attributes,
  work: SpanWork<T>,
  options: SpanOptions = {},
): Promise<T> {
  if (!on) return await work();
  const { api, tracer } = on;
  const parent = parentOf(on, options.parent);
  if (options.isPart && !api.trace.getSpanContext(parent)) return await work();
  const kind = api.SpanKind[options.kind === 'server' ? 'SERVER' : options.kind === 'client' ? 'CLIENT' : 'INTERNAL'];
  const links = (options.links ?? [])
    .flatMap((text) => parseTraceparent(text) ?? [])
    .map((context): Link => ({ context }));
  return await tracer.startActiveSpan(name, { kind, attributes, links }, parent, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      const { code, name: errorName } = (error ?? {}) as { code?: string; name?: string };
      span.setAttribute('error.type', String(code ?? errorName ?? 'unknown'));
      span.setStatus({ code: api.SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Records a span of work that is done, such as one row of a batch. It is part of a stored trace context, or left out. */
export function recordSpan(
  name: string,
  attributes: Attributes,
  parent: string | null | undefined,
  startMs: number,
): void {
  if (!on || !parseTraceparent(parent)) return;
  on.tracer.startSpan(name, { attributes, startTime: startMs }, parentOf(on, parent, on.api.ROOT_CONTEXT)).end();
}

/** The trace context of the active span, in the form of W3C's `traceparent`, to be stored; undefined without a span. */
export function currentTraceparent(): string | undefined {
  const span = on?.api.trace.getActiveSpan()?.spanContext();
  return span && `00-${span.traceId}-${span.spanId}-0${span.traceFlags & 1}`;
}

/** Names the active span in a log line. */
export function traceFields(): { trace_id: string; span_id: string } | undefined {
  const span = on?.api.trace.getActiveSpan()?.spanContext();
  return span && { trace_id: span.traceId, span_id: span.spanId };
}

function parentOf({ api }: OpenTelemetry, stored: string | null | undefined, active = api.context.active()): Context {
  const remote = parseTraceparent(stored);
  return remote && !api.trace.getSpanContext(active) ? api.trace.setSpanContext(active, remote) : active;
}

function parseTraceparent(text: string | null | undefined) {
  const match = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/.exec(text ?? '');
  if (!match) return undefined;
  const [, traceId = '', spanId = '', flags = ''] = match;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

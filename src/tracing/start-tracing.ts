import type { Sampler, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Config } from '../config.ts';
import { VERSION } from '../domain/version.ts';
import { setOpenTelemetry } from './in-span.ts';

/** Limit of the flush at the end of a process, which has 20 s in all. */
const FLUSH_MS = 5_000;
const WARN_EVERY_MS = 60_000;

/**
 * Starts tracing where OTEL_EXPORTER_OTLP_ENDPOINT is set, and loads the SDK only then. Spans are sent in the background: a
 * collector that is away costs spans beyond OTEL_BSP_MAX_QUEUE_SIZE, and nothing else. The SDK itself reads the other OTEL_
 * variables of the exporter and the resource. Disposing sends what is left, within FLUSH_MS.
 * @param warn called at most once a minute while spans are lost.
 */
export async function startTracing(
  config: Config,
  { instance, role }: { instance: string; role: string },
  warn: (message: string) => void,
): Promise<AsyncDisposable> {
  if (!config.OTEL_EXPORTER_OTLP_ENDPOINT || config.OTEL_SDK_DISABLED)
    return { [Symbol.asyncDispose]: async () => undefined };
  const [api, sdk, { OTLPTraceExporter }, { AsyncLocalStorageContextManager }, resources] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/context-async-hooks'),
    import('@opentelemetry/resources'),
  ]);
  const resource = resources
    .resourceFromAttributes({ 'service.name': 'confere', 'service.version': VERSION, 'service.instance.id': instance })
    .merge(resources.resourceFromAttributes({ 'confere.role': role }))
    .merge(
      resources.detectResources({
        detectors: [resources.resourceAttributesEnvDetector, resources.serviceNameEnvDetector],
      }),
    );
  const endpoint = config.OTEL_EXPORTER_OTLP_ENDPOINT.replace(/(?<!\/)\/+$/, '');
  const exporter = new OTLPTraceExporter({
    url: config.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? `${endpoint}/v1/traces`,
    timeoutMillis: config.OTEL_EXPORTER_OTLP_TIMEOUT,
  });
  const processor = new sdk.BatchSpanProcessor({
    exporter,
    scheduledDelayMillis: config.OTEL_BSP_SCHEDULE_DELAY,
    maxQueueSize: config.OTEL_BSP_MAX_QUEUE_SIZE,
    maxExportBatchSize: config.OTEL_BSP_MAX_EXPORT_BATCH_SIZE,
  });
  const provider = new sdk.TracerProvider({
    resource,
    sampler: chooseSampler(sdk, config),
    spanProcessors: [processor],
  });
  api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  reportLosses(api, warn);
  setOpenTelemetry({ api, tracer: provider.getTracer('confere', VERSION) });
  return {
    async [Symbol.asyncDispose]() {
      setOpenTelemetry(undefined);
      await flush(provider, warn);
      api.context.disable();
      api.diag.disable();
    },
  };
}

function chooseSampler(sdk: typeof import('@opentelemetry/sdk-trace'), config: Config): Sampler {
  const [, isParentBased, kind] = /^(parentbased_)?(.*)$/.exec(config.OTEL_TRACES_SAMPLER) ?? [];
  const root =
    kind === 'always_off'
      ? new sdk.AlwaysOffSampler()
      : kind === 'traceidratio'
        ? new sdk.TraceIdRatioBasedSampler(config.OTEL_TRACES_SAMPLER_ARG)
        : new sdk.AlwaysOnSampler();
  return isParentBased ? new sdk.ParentBasedSampler({ root }) : root;
}

/** The SDK reports lost spans to its diagnostic log. Its texts may quote addresses and headers: they are not repeated. */
function reportLosses(api: typeof import('@opentelemetry/api'), warn: (message: string) => void): void {
  let warnedAtMs = Number.NEGATIVE_INFINITY;
  const lost = (): void => {
    if (performance.now() - warnedAtMs < WARN_EVERY_MS) return;
    warnedAtMs = performance.now();
    warn('traces could not be sent to OTEL_EXPORTER_OTLP_ENDPOINT; these spans are lost');
  };
  const ignore = (): void => undefined;
  api.diag.setLogger(
    { error: lost, warn: lost, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: api.DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}

async function flush(provider: TracerProvider, warn: (message: string) => void): Promise<void> {
  const late = new Promise<'late'>((resolve) => setTimeout(resolve, FLUSH_MS, 'late').unref());
  const ended = provider.shutdown().then(
    () => 'sent',
    () => 'failed',
  );
  if ((await Promise.race([ended, late])) !== 'sent') warn('the last traces could not be sent before the end');
}

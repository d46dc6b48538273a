/** Spans as an OTLP receiver gets them, in JSON. */
type Attribute = { key: string; value: { stringValue?: string; intValue?: number } };
export type Span = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  links?: { traceId: string }[];
  attributes: Attribute[];
  /** The process that sent it. */
  instance: string;
};
type Export = {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: Omit<Span, 'instance'>[] }[] }[];
};

/** @returns the spans of requests to an OTLP receiver; a request without a body is of a client that had the port before. */
export function readSpans(posted: { json: unknown }[]): Span[] {
  return posted.flatMap(({ json }) =>
    ((json as Export | undefined)?.resourceSpans ?? []).flatMap(({ resource, scopeSpans }) => {
      const instance = resource.attributes.find(({ key }) => key === 'service.instance.id')?.value.stringValue ?? '';
      return scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...span, instance })));
    }),
  );
}

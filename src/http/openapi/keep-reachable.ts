type Json = Record<string, unknown>;
type Named = Record<string, Json>;

const SCHEMA_REF = /"#\/components\/schemas\/([^"]+)"/g;

/** Returns an OpenAPI document without the components that its operations do not use. Pure. */
export function keepReachable(document: Json): Json {
  const { components, ...rest } = document as Json & { components: { schemas: Named; securitySchemes: Named } };
  const reached = new Set<string>();
  const follow = (value: unknown): void => {
    for (const [, id = ''] of JSON.stringify(value).matchAll(SCHEMA_REF)) {
      if (reached.has(id)) continue;
      reached.add(id);
      follow(components.schemas[id] ?? {});
    }
  };
  follow(rest);
  const operations = Object.values((rest as { paths: Named }).paths).flatMap((path) => Object.values(path));
  const schemes = new Set(operations.flatMap((one) => (one as { security: Json[] }).security.flatMap(Object.keys)));
  const pick = (all: Named, names: Set<string>): Named =>
    Object.fromEntries(Object.entries(all).filter(([name]) => names.has(name)));
  return {
    ...rest,
    components: {
      schemas: pick(components.schemas, reached),
      securitySchemes: pick(components.securitySchemes, schemes),
    },
  };
}

import type { Express, IRouter } from 'express';

type Layer = IRouter['stack'][number] & { rawPath?: unknown };

/** Returns every route of the app as `get /api/v1/events`, read from the routers' own tables. */
export function listRoutes(app: Express): string[] {
  return listLayers(app.router.stack as Layer[]);
}

function listLayers(stack: Layer[], prefix = ''): string[] {
  return stack.flatMap(({ route, handle, rawPath }) => {
    if (route) {
      // cast: the types of express hide the methods of a route
      const { methods } = route as unknown as { methods: Record<string, boolean> };
      return Object.keys(methods)
        .filter((method) => method !== '_all')
        .map((method) => `${method} ${prefix}${route.path}`);
    }
    const inner = (handle as { stack?: Layer[] }).stack;
    return inner ? listLayers(inner, rawPath === '/api/v1' ? '/api/v1' : prefix) : [];
  });
}

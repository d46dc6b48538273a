import { createHash, timingSafeEqual } from 'node:crypto';
import type { RequestHandler } from 'express';
import type { Sandbox } from '../context.ts';
import { ApiError } from './handle-error.ts';

/** Requires `Authorization: Bearer <api key>`; answers 401 otherwise. */
export function requireKey(sandbox: Sandbox): RequestHandler {
  const wanted = digest(sandbox.settings.apiKey);
  return (request, _response, next) => {
    const [scheme, ...rest] = (request.headers.authorization ?? '').split(' ');
    const matches = timingSafeEqual(digest(rest.join(' ').trim()), wanted);
    if (scheme?.toLowerCase() !== 'bearer' || !matches) throw new ApiError(401, 401, 'Unauthenticated.');
    next();
  };
}

/** Requires `Accept: application/json`, and `Content-Type: application/json` on requests with a body. */
export function requireJson(sandbox: Sandbox): RequestHandler {
  return (request, _response, next) => {
    if (sandbox.switches.current.creation.headers === 'strict') {
      if (!/(^|[\s,])application\/json\s*($|[,;])/i.test(request.headers.accept ?? '')) {
        throw new ApiError(406, 406, 'Send the header Accept: application/json.');
      }
      const hasBody = request.method !== 'GET' && request.method !== 'HEAD';
      if (hasBody && !/^application\/json\s*($|;)/i.test(request.headers['content-type'] ?? '')) {
        throw new ApiError(415, 415, 'Send the header Content-Type: application/json.');
      }
    }
    next();
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

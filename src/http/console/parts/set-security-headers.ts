import type { RequestHandler } from 'express';

/** Nothing but our own files: no inline script or style, no frame around us, no form that goes elsewhere. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The headers of every answer of the console. */
export function setSecurityHeaders(): RequestHandler {
  return (_request, response, next) => {
    response.setHeader('content-security-policy', POLICY);
    response.setHeader('x-frame-options', 'DENY');
    response.setHeader('cross-origin-opener-policy', 'same-origin');
    // same-origin, not no-referrer: under that one a form's Origin would be null
    response.setHeader('referrer-policy', 'same-origin');
    response.setHeader('permissions-policy', 'camera=(), microphone=(), geolocation=(), payment=()');
    next();
  };
}

import type { RequestHandler, Response } from 'express';

/** Allows only our own files: no inline script or style, no embedding in a frame, no form that posts to another site. */
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

/** Sets the security headers of each response of the console. */
export function setSecurityHeaders(): RequestHandler {
  return (_request, response, next) => {
    response.setHeader('content-security-policy', POLICY);
    response.setHeader('x-frame-options', 'DENY');
    response.setHeader('cross-origin-opener-policy', 'same-origin');
    // not no-referrer: a form's Origin would be null
    response.setHeader('referrer-policy', 'same-origin');
    response.setHeader('permissions-policy', 'camera=(), microphone=(), geolocation=(), payment=()');
    next();
  };
}

/** Also allows pictures that a style sheet of ours contains (`data:`): for a page that somebody else's style sheet needs it for. */
export function allowContainedPictures(response: Response): void {
  response.setHeader('content-security-policy', POLICY.replace("img-src 'self'", "img-src 'self' data:"));
}

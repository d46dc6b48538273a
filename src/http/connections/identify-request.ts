import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { withLogFields } from '../../log.ts';

/** With a letter: digits alone could be a document or a phone, which must not reach the log. */
const REQUEST_ID = /^(?=.*[A-Za-z])[\w.:=+/-]{1,128}$/;

/**
 * Answers a request with its `x-request-id`, and adds it as `request_id` to each log line of the request. An absent or
 * unusable one is replaced by a new UUID.
 */
export function identifyRequest(request: IncomingMessage, response: ServerResponse, answer: () => void): void {
  const given = request.headers['x-request-id'];
  const id = typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
  response.setHeader('x-request-id', id);
  withLogFields({ request_id: id }, answer);
}

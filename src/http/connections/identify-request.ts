import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { maskText } from '../../domain/person/mask-person.ts';
import { withLogFields } from '../../log.ts';

/** With a letter, and nothing that resembles a document, a phone or an e-mail: they must not reach the log. */
const REQUEST_ID = /^(?=.*[A-Za-z])[\w.:=+/-]{1,128}$/;

/**
 * Answers a request with its `x-request-id`, and adds it as `request_id` to each log line of the request. An absent or
 * unusable one is replaced by a new UUID.
 */
export function identifyRequest(request: IncomingMessage, response: ServerResponse, answer: () => void): void {
  const given = request.headers['x-request-id'];
  const isUsable = typeof given === 'string' && REQUEST_ID.test(given) && maskText(given) === given;
  const id = isUsable ? given : randomUUID();
  response.setHeader('x-request-id', id);
  withLogFields({ request_id: id }, answer);
}

import type { ServerResponse } from 'node:http';

/** Has an answer say that its connection closes with it, where it has not begun. */
export function closeAfterResponse(response: ServerResponse): void {
  if (response.headersSent) return;
  response.setHeader('connection', 'close');
  response.removeHeader('keep-alive');
}

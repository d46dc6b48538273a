import type { ServerResponse } from 'node:http';

/** Closes the connection with this response. Without effect once the response headers were sent. */
export function closeAfterResponse(response: ServerResponse): void {
  if (response.headersSent) return;
  response.setHeader('connection', 'close');
  response.removeHeader('keep-alive');
}

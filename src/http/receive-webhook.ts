import express, { type Request, type Response, type Router } from 'express';
import ipaddr from 'ipaddr.js';
import type { Context } from '../context.ts';
import { BODY_BYTES_MAX, type BodyFault } from '../inbox/check-body.ts';
import { checkCredentials } from '../inbox/check-credentials.ts';
import type { Receiver } from '../inbox/receive.ts';
import { describeError } from '../log.ts';
import { webhooksReceived } from '../metrics/metrics.ts';
import { sendProblem } from './problem.ts';

const RETRY_AFTER_S = 5;
/** Kept beside the body for whoever looks into it; none of them carries a secret. */
const KEPT_HEADERS = ['content-type', 'user-agent', 'webhook-id', 'webhook-timestamp', 'x-request-id', 'date'];
const HEADER_CHARS_MAX = 300;
const REFUSALS_LOGGED_EVERY_MS = 10_000;

const FAULT_TEXT: Record<BodyFault, string> = {
  empty: 'the body is empty',
  not_json: 'the body is not JSON in UTF-8',
  not_an_object: 'the body must be a JSON object, or a list that holds some',
  too_deep: 'the body is nested too deeply',
};

/** `POST /webhooks/pix` and `/webhooks/pix/:token`: answered 200 only once it is durable. */
export function webhookRoutes(context: Context, receive: Receiver): Router {
  const router = express.Router();
  const logRefusal = createRefusalLog(context);
  // any content type is read as JSON; a compressed body could grow to any size and is refused
  const raw = express.raw({ type: () => true, limit: BODY_BYTES_MAX, inflate: false });
  const guard = (request: Request, response: Response, next: () => void): void => {
    if (isAllowedAddress(context.config.WEBHOOK_ALLOW, request.ip)) next();
    else {
      webhooksReceived.inc({ outcome: 'unauthorized' });
      logRefusal();
      sendProblem(response, { status: 403, detail: 'this address is not on the list of those that may send' });
    }
  };
  const take = async (request: Request<{ token?: string }>, response: Response): Promise<void> => {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const credentials = {
      headers: request.headers,
      pathToken: request.params.token,
      body,
      now: context.clock.now(),
    };
    if (!checkCredentials(context.config, credentials)) {
      webhooksReceived.inc({ outcome: 'unauthorized' });
      logRefusal();
      sendProblem(response, { status: 401, detail: 'the credentials are not those of the provider' });
      return;
    }
    await keep(context, receive, request, response, body);
  };
  router.post('/webhooks/pix', guard, raw, take);
  router.post('/webhooks/pix/:token', guard, raw, take);
  return router;
}

async function keep(
  context: Context,
  receive: Receiver,
  request: Request<{ token?: string }>,
  response: Response,
  body: Buffer,
): Promise<void> {
  try {
    const headers = chooseHeaders(request);
    const received = await receive({ body, address: request.ip ?? '', headers });
    if (received.fault) {
      webhooksReceived.inc({ outcome: 'refused' });
      sendProblem(response, { status: 400, detail: `${FAULT_TEXT[received.fault]} (kept as ${received.id})` });
      return;
    }
    webhooksReceived.inc({ outcome: received.duplicate ? 'duplicate' : 'accepted' });
    response.json({ received: true, id: received.id, duplicate: received.duplicate });
  } catch (error) {
    webhooksReceived.inc({ outcome: 'unavailable' });
    context.log.error({ error: describeError(error) }, 'a webhook could not be kept: answered 503');
    response.setHeader('retry-after', String(RETRY_AFTER_S));
    sendProblem(response, { status: 503, detail: 'it could not be kept: send it again' });
  }
}

function chooseHeaders(request: Request<{ token?: string }>): Record<string, string> {
  const chosen: Record<string, string> = {};
  for (const name of KEPT_HEADERS) {
    const value = request.headers[name];
    if (typeof value === 'string') chosen[name] = value.slice(0, HEADER_CHARS_MAX);
  }
  return chosen;
}

function isAllowedAddress(blocks: string[], address: string | undefined): boolean {
  if (blocks.length === 0) return true;
  if (address === undefined || !ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return blocks.some((block) => {
    const [range, bits] = block.includes('/') ? ipaddr.parseCIDR(block) : [ipaddr.process(block), undefined];
    if (range.kind() !== parsed.kind()) return false;
    return parsed.match(range, bits ?? (range.kind() === 'ipv4' ? 32 : 128));
  });
}

/** One line for many refusals: failing must cost an attacker more than us. */
function createRefusalLog(context: Context): () => void {
  let count = 0;
  let loggedAt = 0;
  return () => {
    count++;
    if (Date.now() - loggedAt < REFUSALS_LOGGED_EVERY_MS) return;
    context.log.warn({ refused: count }, 'webhooks without valid credentials were refused');
    loggedAt = Date.now();
    count = 0;
  };
}

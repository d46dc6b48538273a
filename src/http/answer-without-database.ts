/**
 * Answers requests that wait for a database which does not answer at all: a process that is stopped, or a host that hangs.
 * Its statements fail late, or never, so a request that has waited for longer than a limited read takes asks whether the
 * database greets a new connection. One that greets is only slow, and the request goes on. Webhooks do not pass here: the
 * receiver spools them.
 */
import type { ServerResponse } from 'node:http';
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import type { Context } from '../context.ts';
import { READ_TIMEOUT_MS } from '../database/limit-statement-time.ts';

/** A limited read has ended by then, or failed. */
const SUSPECT_AFTER_MS = READ_TIMEOUT_MS + 200;
const GREETING_MS_MAX = 1_000;
/** A single one may be missed by a server that restarts. */
const GREETINGS_MISSED_MAX = 2;
/** While the database does not answer, a request is answered 503 by then. */
export const SILENCE_MS_MAX = SUSPECT_AFTER_MS + GREETINGS_MISSED_MAX * GREETING_MS_MAX;

type Probing = Pick<Context, 'timers' | 'isDatabaseGreeting'>;

/** Responses that were given up; their handlers may still be waiting for the database. */
const givenUp = new WeakSet<ServerResponse>();

/** Whether a request was answered 503 before its handler ended, so that what the handler does to the response is void. */
export function isGivenUp(response: ServerResponse): boolean {
  return givenUp.has(response);
}

/**
 * Middleware that answers 503 within SILENCE_MS_MAX while the database is silent. The handlers after it keep waiting: a
 * change that a form asked for may still be made once the database is back.
 * @param answer the error handler of these routes.
 */
export function answerWithoutDatabase(context: Probing, answer: ErrorRequestHandler): RequestHandler {
  const isSilent = shareResult(() => missesGreetings(context));
  return (request, response, next) => {
    const waits = (): boolean => !response.headersSent && !response.destroyed;
    const check = async (): Promise<void> => {
      if (!waits()) return;
      const silent = await isSilent();
      if (!waits()) return;
      if (silent) giveUp(request, response, answer);
      else timer = checkLater();
    };
    const checkLater = () => context.timers.after(SUSPECT_AFTER_MS, () => void check());
    let timer = checkLater();
    response.once('close', () => timer.cancel());
    next();
  };
}

async function missesGreetings({ isDatabaseGreeting }: Probing): Promise<boolean> {
  for (let missed = 0; missed < GREETINGS_MISSED_MAX; missed++)
    if (await isDatabaseGreeting(GREETING_MS_MAX)) return false;
  return true;
}

/** Requests that wait at the same time share one probe. */
function shareResult(ask: () => Promise<boolean>): () => Promise<boolean> {
  let asked: Promise<boolean> | undefined;
  return () => {
    asked ??= ask().finally(() => {
      asked = undefined;
    });
    return asked;
  };
}

function giveUp(request: Request, response: Response, answer: ErrorRequestHandler): void {
  // the handler may write to a response that has ended
  response.on('error', () => undefined);
  const away = Object.assign(new Error('the database does not greet a new connection'), { code: 'ETIMEDOUT' });
  answer(away, request, response, () => undefined);
  // from here on: an error handler ignores a response that was given up
  givenUp.add(response);
}

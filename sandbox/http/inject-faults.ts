import type { RequestHandler, Response } from 'express';
import type { Sandbox } from '../context.ts';
import { chooseFault, type FaultTallies } from '../faults/choose-fault.ts';
import type { Fault } from '../faults/fault.ts';
import { ApiError } from './handle-error.ts';

export type Route = 'list' | 'show' | 'cashin' | 'cashout';

/**
 * Injects the configured faults into requests of a route. `status`, `rate_limit` and `slow` apply before the work; `cut`,
 * `hang` and `malformed` apply to the answer, after the transaction was created.
 */
export function injectFaults(sandbox: Sandbox, tallies: FaultTallies, route: Route): RequestHandler {
  const random = sandbox.random.fork(`faults/${route}`);
  return async (_request, response, next) => {
    const fault = chooseFault(sandbox.switches.current.faults, tallies, route, random, sandbox.now());
    if (fault === undefined) return next();
    switch (fault.kind) {
      case 'status':
        if (fault.retry_after_s !== null) response.set('retry-after', String(fault.retry_after_s));
        throw new ApiError(fault.status, fault.status, fault.status === 429 ? 'Too Many Attempts.' : 'Server Error');
      case 'rate_limit':
        response.set('retry-after', String(fault.retry_after_s));
        throw new ApiError(429, 429, 'Too Many Attempts.');
      case 'slow':
        await sandbox.timers.sleep(fault.delay_ms, { signal: sandbox.signal }).catch(() => undefined);
        return next();
      default:
        corruptAnswer(response, fault);
        return next();
    }
  };
}

type AnswerFault = Extract<Fault, { kind: 'cut' | 'hang' | 'malformed' }>;

function corruptAnswer(response: Response, fault: AnswerFault): void {
  response.json = (body: unknown) => {
    const text = JSON.stringify(body);
    const half = text.slice(0, Math.ceil(text.length / 2));
    switch (fault.kind) {
      case 'hang':
        return response;
      case 'cut':
        response.set('content-type', 'application/json').set('content-length', String(Buffer.byteLength(text)));
        response.write(half, () => response.destroy());
        return response;
      case 'malformed':
        return corruptText(response, fault, half);
    }
  };
}

function corruptText(response: Response, { as }: Extract<Fault, { kind: 'malformed' }>, half: string): Response {
  switch (as) {
    case 'truncated':
      return response.type('json').send(half);
    case 'html':
      return response.type('html').send('<html><body><h1>502 Bad Gateway</h1></body></html>');
    case 'empty':
      return response.type('json').send('');
    case 'wrong_shape':
      return response.type('json').send('{"data":null,"transactions":"none","transaction":7}');
  }
}

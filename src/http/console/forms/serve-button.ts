import type { Request, Router } from 'express';
import type { Context } from '../../../context.ts';
import { type Change, makeChange } from '../../../operations/define-change.ts';
import { getCaller, requireRole } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';

/** The route of a button that makes a change without fields, of the item that `:id` names. @param to the page that follows. */
export function serveButton<Made>(
  context: Context,
  change: Change<undefined, Made> | Change<unknown, Made>,
  { address, to }: { address: string; to: string | ((id: string, made: Made) => string) },
): Router {
  const router = createRouter();
  router.post(address, requireRole(...change.roles), async (request: Request<{ id: string }>, response) => {
    const { id } = request.params;
    const by = { caller: getCaller(response), id, via: 'console' } as const;
    const { made } = await makeChange<unknown, Made>(context, change, { given: undefined, by });
    context.wakeUps.alerts.notify();
    response.redirect(303, typeof to === 'string' ? to : to(id, made as Made));
  });
  return router;
}

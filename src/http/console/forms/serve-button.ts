import type { Request, Router } from 'express';
import type { Context } from '../../../context.ts';
import { type AnyChange, makeChange } from '../../../operations/define-change.ts';
import { createRouter } from '../../create-router.ts';
import { admit, byOf } from '../../mount-operations.ts';

/** The route of a button that makes a change without fields, of the item that `:id` names. @param to the page that follows. */
export function serveButton<Made>(
  context: Context,
  change: AnyChange<undefined, Made> | AnyChange<unknown, Made>,
  { address, to }: { address: string; to: string | ((id: string, made: Made) => string) },
): Router {
  const router = createRouter();
  router.post(address, admit([change]), async (request: Request<{ id: string }>, response) => {
    const by = byOf(change, request, response, true);
    const { made } = await makeChange<unknown, Made>(context, change, { given: undefined, by });
    context.wakeUps.alerts.notify();
    response.redirect(303, typeof to === 'string' ? to : to(by.id, made as Made));
  });
  return router;
}

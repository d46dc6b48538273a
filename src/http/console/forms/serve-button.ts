import type { Request, Router } from 'express';
import type { Context } from '../../../context.ts';
import { type AnyChange, makeChange } from '../../../operations/define-change.ts';
import { createRouter } from '../../create-router.ts';
import { admit, byOf } from '../../mount-operations.ts';

/**
 * The route of a button that makes a change, of the item that `:id` names.
 * @param to the page that follows. @param read the input of the change, as the button's form has it; default: none.
 */
export function serveButton<Made>(
  context: Context,
  change: AnyChange<undefined, Made> | AnyChange<unknown, Made>,
  button: {
    address: string;
    to: string | ((id: string, made: Made, followed: unknown) => string);
    read?: (request: Request) => unknown;
  },
): Router {
  const router = createRouter();
  const { address, to, read } = button;
  router.post(address, admit([change]), async (request: Request<{ id: string }>, response) => {
    const by = byOf(change, request, response, true);
    const parsed = read && change.input?.safeParse(read(request));
    // its fields are hidden: the person who sent it could correct none, and the faults have an English text alone
    if (parsed?.success === false) throw Object.assign(new Error('a button’s fields are wrong'), { status: 400 });
    const given = parsed?.data;
    const { made, followed } = await makeChange<unknown, Made>(context, change, { given, by });
    context.wakeUps.alerts.notify();
    response.redirect(303, typeof to === 'string' ? to : to(by.id, made as Made, followed));
  });
  return router;
}

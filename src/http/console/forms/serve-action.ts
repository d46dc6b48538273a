import type { Request, Router } from 'express';
import type { Context } from '../../../context.ts';
import { type Change, makeChange } from '../../../operations/define-change.ts';
import { parseInput } from '../../../operations/parse-input.ts';
import { getCaller, requireRole } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { readFormField } from '../parts/parse-filters.ts';

/**
 * The route of a form that makes a change in one step, of the item that `:id` names: one that a person can take back.
 * @param fields that the form has, by the names of the change's. @param to the page that follows.
 */
export function serveAction<Given, Made>(
  context: Context,
  change: Change<Given, Made>,
  { address, fields, to }: { address: string; fields: readonly string[]; to: (id: string) => string },
): Router {
  const router = createRouter();
  router.post(address, requireRole(...change.roles), async (request: Request<{ id: string }>, response) => {
    const { id } = request.params;
    const typed = fields.flatMap((name) => {
      const value = readFormField(request, name);
      return value === undefined ? [] : [[name, value] as const];
    });
    const given = (change.input ? parseInput(Object.fromEntries(typed), change.input) : undefined) as Given;
    await makeChange(context, change, { given, by: { caller: getCaller(response), id, via: 'console' } });
    context.wakeUps.alerts.notify();
    response.redirect(303, to(id));
  });
  return router;
}

import type { Request, Response } from 'express';
import type { Sandbox } from '../context.ts';
import type { Operation } from '../domain/statuses.ts';
import { createTransaction } from '../lifecycle/create-transaction.ts';
import { checkCharge } from './check-charge.ts';
import { ApiError, ERROR_CODES } from './handle-error.ts';
import { presentTransaction } from './present-transaction.ts';
import { readBody } from './read-body.ts';

/** POST /api/v1/transaction/pix/cashin and …/cashout: answers the new transaction, pending. */
export async function handleCreate(
  sandbox: Sandbox,
  operation: Operation,
  request: Request,
  response: Response,
): Promise<void> {
  const switches = sandbox.switches.current;
  const charge = checkCharge(operation, readBody(request), switches);
  const created = await createTransaction(sandbox, charge, switches.lives.created === 'auto');
  if (created === undefined) {
    const message = 'The reference has already been taken.';
    throw new ApiError(422, ERROR_CODES.duplicate, message, { reference: [message] });
  }
  sandbox.wake.steps();
  const shown = presentTransaction(created, 'creation', { settings: sandbox.settings, switches });
  response.json({ transaction: switches.rows.show_as === 'array' ? [shown] : shown });
}

import type { Request, Response } from 'express';
import type { Sandbox } from '../context.ts';
import { readTransaction } from '../store/read-transactions.ts';
import { ApiError } from './handle-error.ts';
import { presentTransaction } from './present-transaction.ts';

/** GET /api/v1/transaction/<id>: answers one transaction with its events, or 404. */
export async function handleShow(sandbox: Sandbox, request: Request, response: Response): Promise<void> {
  const switches = sandbox.switches.current;
  const found = await readTransaction(sandbox.db, String(request.params.id));
  if (found === undefined || found.visible === 0) throw new ApiError(404, 404, 'Transaction not found.');
  const shown = presentTransaction(found, 'show', { settings: sandbox.settings, switches });
  response.json({ transaction: switches.rows.show_as === 'array' ? [shown] : shown });
}

import type { Request, Router } from 'express';
import { z } from 'zod';
import { auditChange } from '../../../access/audit.ts';
import type { Context } from '../../../context.ts';
import { compareStatements } from '../../../ledger/stated/state-balance.ts';
import { finishReposts, listOpenings, reverseOpeningEntry } from '../../../ledger/stated/state-opening.ts';
import { openBooks } from '../../../reconciliation/runs/open-books.ts';
import { getActor, requireRole } from '../../access/authorize.ts';
import { presentPlatform } from '../../access/mask-texts.ts';
import { createRouter } from '../../create-router.ts';
import { presentPage, presentWritten, readPage } from '../../parse-page.ts';
import { parseBody } from '../../parse-request.ts';
import { day, newPlatform, platform, signedAmount } from '../fields.ts';

export const newOpeningSchema = z.object({
  platform,
  day,
  balance: signedAmount,
  new_platform: newPlatform,
});

/** Reverses an opening, so that another can be stated. */
export const openingReversalSchema = z.object({ reverses: z.string().min(1) });

export function openingRoutes(context: Context): Router {
  const router = createRouter();
  router.post('/openings', requireRole('admin'), async (req, response) => {
    const actor = getActor(response);
    const isReversal = ((req.body ?? {}) as { reverses?: unknown }).reverses !== undefined;
    const action = isReversal ? 'openings.reverse' : 'openings.create';
    const id = await auditChange(
      context,
      (inner) => (isReversal ? reverse(inner, req) : state(inner, req, actor)),
      (target) => ({ actor, action, target }),
    );
    await finishReposts(context);
    await compareStatements(context);
    const [opening] = await listOpenings(context.db, 1, undefined, id);
    response.status(201).json(presentWritten(opening, 'the opening'));
  });

  router.get('/openings', requireRole('viewer'), async (req, response) => {
    const { rows, next } = await readPage(context, req, ({ db }, ...page) => listOpenings(db, ...page));
    const shown = rows.map((row) => presentPlatform(response, row));
    response.json(presentPage('openings', shown, next));
  });
  return router;
}

async function state(context: Context, request: Request, actor: string): Promise<string> {
  const { balance: balanceCents, new_platform, ...rest } = parseBody(request, newOpeningSchema);
  return (await openBooks(context, { ...rest, balanceCents, actor, newPlatform: new_platform })).id;
}

async function reverse(context: Context, request: Request): Promise<string> {
  const { reverses } = parseBody(request, openingReversalSchema);
  await reverseOpeningEntry(context, reverses);
  return reverses;
}

import type { Response, Router } from 'express';
import { z } from 'zod';
import { auditChange } from '../../../access/audit.ts';
import type { Context } from '../../../context.ts';
import { limitStatementTime } from '../../../database/limit-statement-time.ts';
import { maskNote } from '../../../domain/person/mask-mismatch.ts';
import { LINE_STATES, listBankLines } from '../../../ledger/bank/list-bank-lines.ts';
import { listBankMatches, listBankStatements, listOpenBankEntries } from '../../../ledger/bank/list-bank-matches.ts';
import { matchBankLines } from '../../../ledger/bank/match-bank-lines.ts';
import { pickMatch, undoMatch } from '../../../ledger/bank/pick-match.ts';
import { presentBankSummary } from '../../../ledger/bank/present-bank-summary.ts';
import { summarizeBank } from '../../../ledger/bank/summarize-bank.ts';
import { note } from '../../../operations/fields.ts';
import { presentPlatform } from '../../../operations/mask-texts.ts';
import { presentWritten } from '../../../operations/present-row.ts';
import { auditPersonalAccess, canSeePersonalData, getActor, getCaller, requireRole } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { presentPage, readPage } from '../../parse-page.ts';
import { parseBody, parseQuery } from '../../parse-request.ts';

export const bankLineQuerySchema = z.object({
  state: z.enum(LINE_STATES, `must be one of ${LINE_STATES.join(', ')}`).optional(),
  account: z.string().min(1).max(100).optional(),
});
export const bankMatchSchema = z
  .strictObject({
    line_id: z.string('must be the id of a line: bl_12'),
    adjustment_id: z.string().min(1).optional().describe('of kind bank, in force and without a match'),
    transaction_id: z.string().min(1).optional().describe('a paid cashout without a match'),
    note: note.optional(),
  })
  .refine(({ adjustment_id: one, transaction_id: other }) => (one === undefined) !== (other === undefined), {
    error: 'give adjustment_id or transaction_id',
    path: ['adjustment_id'],
  });
export const bankUndoSchema = z.strictObject({ note });

/** The bank's statements, what of them is matched with the ledger, and what is open on both sides. */
export function bankRoutes(context: Context): Router {
  const router = createRouter();
  router.get('/bank', requireRole('viewer'), async (_request, response) => {
    response.json(presentBankSummary(await summarizeBank(limitStatementTime(context.db))));
  });
  router.get('/bank/statements', requireRole('viewer'), async (request, response) => {
    const { rows, next } = await readPage(context, request, ({ db }, ...page) => listBankStatements(db, ...page));
    response.json(presentPage('statements', rows, next));
  });
  router.get('/bank/lines', requireRole('viewer'), async (request, response) => {
    const filters = parseQuery(request, bankLineQuerySchema);
    const { rows, next } = await readPage(context, request, ({ db }, ...page) => listBankLines(db, ...page, filters));
    await auditPersonalAccess(context, response, 'bank.lines', 'texts');
    response.json(
      presentPage(
        'lines',
        rows.map((row) => presentBankLine(response, row)),
        next,
      ),
    );
  });
  router.get('/bank/entries', requireRole('viewer'), async (request, response) => {
    const { rows, next } = await readPage(context, request, ({ db }, ...page) => listOpenBankEntries(db, ...page));
    await auditPersonalAccess(context, response, 'adjustments.list', 'notes');
    response.json(
      presentPage(
        'entries',
        rows.map((row) => presentNoted(response, row)),
        next,
      ),
    );
  });
  router.get('/bank/matches', requireRole('viewer'), async (request, response) => {
    const { rows, next } = await readPage(context, request, ({ db }, ...page) => listBankMatches(db, ...page));
    await auditPersonalAccess(context, response, 'bank.matches', 'notes');
    response.json(
      presentPage(
        'matches',
        rows.map((row) => presentNoted(response, row)),
        next,
      ),
    );
  });
  matchRoutes(context, router);
  return router;
}

function matchRoutes(context: Context, router: Router): void {
  router.post('/bank/match', requireRole('accountant'), async (_request, response) => {
    const actor = getActor(response);
    const matched = await auditChange(
      context,
      (inner) => matchBankLines(inner),
      (counts) => ({ actor, action: 'bank.match', target: 'rules', detail: JSON.stringify(counts) }),
    );
    response.json({ matched });
  });
  router.post('/bank/matches', requireRole('accountant'), async (request, response) => {
    const actor = getActor(response);
    const { line_id, adjustment_id, transaction_id, note: why } = parseBody(request, bankMatchSchema);
    const picked = adjustment_id === undefined ? { transaction: transaction_id ?? '' } : { adjustment: adjustment_id };
    const id = await auditChange(
      context,
      (inner) => pickMatch(inner, line_id, picked, { actor, note: why }),
      (target) => ({ actor, action: 'bank.match', target }),
    );
    await answerMatch(context, response, id);
  });
  router.post('/bank/matches/:id/undo', requireRole('accountant'), async (request, response) => {
    const actor = getActor(response);
    const { note: why } = parseBody(request, bankUndoSchema);
    const id = await auditChange(
      context,
      (inner) => undoMatch(inner, String(request.params.id), { actor, note: why }),
      (target) => ({ actor, action: 'bank.undo', target }),
    );
    await answerMatch(context, response, id);
  });
}

async function answerMatch(context: Context, response: Response, id: string): Promise<void> {
  const [match] = await listBankMatches(context.db, 1, undefined, id);
  response.status(201).json(presentWritten(match, 'the match'));
}

/** A line as this caller may see it: the bank writes names and documents into its texts. */
export function presentBankLine<T extends Awaited<ReturnType<typeof listBankLines>>[number]>(
  response: Response,
  line: T,
): T {
  if (canSeePersonalData(response)) return line;
  const [name, memo] = [maskNote(line.name), maskNote(line.memo)];
  const [check_number, reference_number] = [maskNote(line.check_number), maskNote(line.reference_number)];
  return { ...line, name, memo, check_number, reference_number, fitid: maskNote(line.fitid) };
}

function presentNoted<T extends { platform: string; note: string | null }>(response: Response, row: T): T {
  const shown = presentPlatform(getCaller(response), row);
  return canSeePersonalData(response) ? shown : { ...shown, note: maskNote(shown.note) };
}

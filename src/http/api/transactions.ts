import type { Request, Response, Router } from 'express';
import { z } from 'zod';
import { presentCallback } from '../../callbacks/manage/present-callback.ts';
import { listTransactionCallbacks } from '../../callbacks/manage/read-callbacks.ts';
import type { Context } from '../../context.ts';
import { formatAmount, parseAmount } from '../../domain/money.ts';
import { foldName, normalizeDocument } from '../../domain/person/fold-person.ts';
import { maskAccount } from '../../domain/person/mask-person.ts';
import { type LedgerTransaction, maskTransaction, presentTransaction } from '../../domain/present-transaction.ts';
import { OPERATIONS } from '../../domain/statuses.ts';
import { listOrdersOf } from '../../expected/read-story.ts';
import { describeTransaction, maskEntries } from '../../ledger/read/describe-transaction.ts';
import { searchTransactions } from '../../ledger/read/search-transactions.ts';
import { listMismatches } from '../../mismatches/read-mismatches.ts';
import {
  auditWithheldMatches,
  authorizeSearch,
  describeFilters,
  formatSearchCursor,
  parseSearchCursor,
} from '../../operations/authorize-search.ts';
import { day, instant } from '../../operations/fields.ts';
import { maskMismatches } from '../../operations/mask-texts.ts';
import { withoutSeq } from '../../operations/present-row.ts';
import { mapInTurns } from '../../runtime/take-turns.ts';
import { type AsOf, endOfNow, readBalances } from '../../seal/read-balances.ts';
import { refuse } from '../../texts/refuse.ts';
import {
  auditPersonalAccess,
  auditShownTransactions,
  canSeePersonalData,
  getCaller,
  requireRole,
} from '../access/authorize.ts';
import { createRouter } from '../create-router.ts';
import { parsePage, presentPage } from '../parse-page.ts';
import { parseQuery } from '../parse-request.ts';

const MISMATCHES_SHOWN_MAX = 200;
const NAME_CHARS_MIN = 2;

export const transactionQuerySchema = z.object({
  id: z.string().min(1).optional(),
  reference: z.string().min(1).optional(),
  extra: z.string().min(1).optional(),
  e2e_id: z.string().min(1).optional(),
  document: z
    .string()
    .max(256)
    .refine((text) => normalizeDocument(text) !== null, 'must hold digits or letters')
    .optional()
    .describe('CPF or CNPJ in any spelling; found by its keyed hash'),
  name: z
    .string()
    .max(100)
    .refine((text) => foldName(text).length >= NAME_CHARS_MIN, `must be at least ${NAME_CHARS_MIN} characters`)
    .optional()
    .describe('the beginning of the name, in any case, with or without accents; not for viewers'),
  amount: z
    .string()
    .refine((text) => parseAmount(text) !== undefined, 'must be an amount: 1234.56')
    .optional(),
  status: z.string().min(1).optional(),
  operation: z.enum(OPERATIONS, `must be one of ${OPERATIONS.join(', ')}`).optional(),
  platform: z.string().min(1).optional().describe('none: what has no platform'),
  from: day.optional(),
  to: day.optional(),
  by: z.enum(['created', 'status'], 'must be created or status').default('created'),
});

const SEALED = /^seal:(\d{1,15})$/;
const known = z
  .string()
  .refine(
    (text) => SEALED.test(text) || instant.safeParse(text).success,
    'must be an instant, 2026-11-21T00:00:00-03:00, or a sealed position, seal:123',
  );

export const balanceQuerySchema = z.object({
  at: instant.optional().describe('to the millisecond: …:59.999 holds a payment of second 59'),
  known: known.optional(),
});

export function transactionRoutes(context: Context): Router {
  const router = createRouter();
  router.get('/transactions', requireRole('viewer'), async (request, response) => {
    const given = parseQuery(request, transactionQuerySchema);
    const { limit, after } = parsePage(request);
    await authorizeSearch(context, getCaller(response), given);
    const { e2e_id: e2eId, amount, ...filter } = given;
    const found = await searchTransactions(context.db, context.keys, {
      ...filter,
      e2eId,
      amountCents: amount === undefined ? undefined : parseAmount(amount),
      limit,
      after: parseSearchCursor(after),
    });
    const shown = await mapInTurns(found.transactions, (one) => present(context, response, one));
    await auditShownTransactions(context, response, 'transactions.list', {
      target: describeFilters(given),
      transactions: shown.map(({ id }) => id),
    });
    await auditWithheldMatches(context, getCaller(response), given, shown);
    response.json(presentPage('transactions', shown, formatSearchCursor(found.next)));
  });

  router.get('/transactions/:id', requireRole('viewer'), async (request: Request<{ id: string }>, response) => {
    const timeline = await describeTransaction(context.db, context.calendar, request.params.id);
    if (!timeline) throw refuse('transaction_unknown');
    const mismatches = await listMismatches(context, {
      transactionId: timeline.transaction.id,
      limit: MISMATCHES_SHOWN_MAX,
    });
    const full = canSeePersonalData(response);
    await auditPersonalAccess(context, response, 'transactions.show', timeline.transaction.id);
    response.json({
      ...present(context, response, timeline.transaction),
      events: timeline.events,
      entries: full ? timeline.entries : maskEntries(timeline.entries, timeline.transaction),
      mismatches: (full ? mismatches : await maskMismatches(context.db, mismatches)).map(withoutSeq),
      callbacks: (await listTransactionCallbacks(context.db, timeline.seq)).map(presentCallback),
      ...(await listOrdersOf(context.db, timeline.transaction.id, { mask: !full })),
    });
  });

  router.get('/balances', requireRole('viewer'), async (request, response) => {
    const { at, known } = parseQuery(request, balanceQuerySchema);
    const now = context.clock.now();
    const atInstant = at === undefined ? now : new Date(at);
    // the wall clock has whole seconds: the current second counts too
    const wall = at === undefined ? endOfNow(context) : context.calendar.toWallTimeRoundedUp(atInstant);
    const { balances, sealed } = await readBalances(context.db, wall, readKnown(known), now);
    response.json({
      at: atInstant.toISOString(),
      known: known === undefined ? now.toISOString() : SEALED.test(known) ? known : new Date(known).toISOString(),
      sealed: sealed ? { position: sealed.position, hash: sealed.hash.toString('hex') } : null,
      balances: balances.map(({ account, cents }) => ({
        account: canSeePersonalData(response) ? account : maskAccount(account),
        amount: formatAmount(cents),
      })),
    });
  });
  return router;
}

function readKnown(known: string | undefined): AsOf {
  if (known === undefined) return 'now';
  const position = SEALED.exec(known)?.[1];
  return position === undefined ? { before: new Date(known) } : { position: Number(position) };
}

/** Presents a transaction, masked for viewers. */
function present(context: Context, response: Response, transaction: LedgerTransaction) {
  const presented = presentTransaction(transaction, context.calendar);
  return canSeePersonalData(response) ? presented : maskTransaction(presented, transaction);
}

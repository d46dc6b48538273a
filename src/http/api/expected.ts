import type { Request, Response, Router } from 'express';
import { z } from 'zod';
import { auditChange } from '../../access/audit.ts';
import type { Context } from '../../context.ts';
import { centsOf } from '../../domain/cents-of.ts';
import { ConfereError } from '../../domain/errors.ts';
import { parseAmount } from '../../domain/money.ts';
import { cancelExpected, reopenExpected } from '../../expected/cancel-expected.ts';
import { EXPECTED_STATES } from '../../expected/decide/decide-state.ts';
import { expectedFactsSchema, expectedNumber, expectedSource } from '../../expected/expected-fields.ts';
import { idOf } from '../../expected/expected-id.ts';
import { listExpected, maskExpected } from '../../expected/list-expected.ts';
import { matchExpected, unmatchExpected } from '../../expected/match-by-hand.ts';
import { type Arrival, isChange, type PutOutcome, putExpected } from '../../expected/put-expected.ts';
import { day, NO_AMOUNT } from '../../operations/fields.ts';
import { parseInput } from '../../operations/parse-input.ts';
import { withoutSeq } from '../../operations/present-row.ts';
import { faultOf, refuse, refuseFields } from '../../texts/refuse.ts';
import { auditPersonalAccess, canSeePersonalData, getActor, requireRole } from '../access/authorize.ts';
import { createRouter } from '../create-router.ts';
import { presentPage, readPage } from '../parse-page.ts';
import { parseBody, parseQuery } from '../parse-request.ts';

/** How many expected payments a request may bring. */
const EXPECTED_MAX = 1_000;
/** Of a request that brings that many. */
export const EXPECTED_BODY_BYTES_MAX = 4 * 1024 * 1024;
const OK = 200;
const CREATED = 201;
const CONFLICT = 409;
const INVALID = 422;

const keySchema = z.object({ source: expectedSource, number: expectedNumber });
export const expectedManySchema = z.strictObject({
  expected_payments: z
    .array(z.record(z.string(), z.unknown(), 'must be an expected payment'), 'must be a list')
    .min(1, 'must have at least one')
    .max(EXPECTED_MAX, `must have at most ${EXPECTED_MAX}`),
});
export const expectedQuerySchema = z.object({
  state: z.enum(EXPECTED_STATES, `must be one of ${EXPECTED_STATES.join(', ')}`).optional(),
  source: z.string().min(1).optional(),
  number: z.string().min(1).optional(),
  reference: z.string().min(1).optional(),
  platform: z.string().min(1).optional().describe('none: what names no platform'),
  due_from: day.optional(),
  due_to: day.optional(),
  from: day.optional().describe('the day on which it first came'),
  to: day.optional(),
});
// a missing note has a reason of its own
const why = z.string('must say why').default('');
export const expectedNoteSchema = z.strictObject({ note: why });
const transactionId = z.string('must be the id of a transaction').min(1, 'must be the id of a transaction');
export const expectedUnmatchSchema = z.strictObject({ transaction_id: transactionId, note: why });
export const expectedMatchSchema = expectedUnmatchSchema.extend({
  amount: z
    .string('must be a decimal text: "1234.56"')
    .transform(centsOf(parseAmount, NO_AMOUNT))
    .refine((cents) => cents > 0n, 'must be more than zero')
    .optional()
    .describe('a part of the payment; without it, what is left of it'),
});

type ById = Request<{ id: string }>;
type ByKey = Request<{ source: string; number: string }>;

/** Expected payments: what a source says of them, what they are matched with, and what people decide. */
export function expectedRoutes(context: Context): Router {
  const router = createRouter();
  router.get('/expected-payments', requireRole('viewer'), async (request, response) => {
    const filters = parseQuery(request, expectedQuerySchema);
    const page = await readPage(context, request, (reading, ...at) => listExpected(reading, ...at, filters));
    await auditPersonalAccess(context, response, 'expected.list', JSON.stringify(Object.keys(request.query)));
    const rows = page.rows.map((row) => (canSeePersonalData(response) ? row : maskExpected(row)));
    response.json(presentPage('expected_payments', rows, page.next));
  });
  router.get('/expected-payments/:id', requireRole('viewer'), async (request: ById, response) => {
    await auditPersonalAccess(context, response, 'expected.show', request.params.id);
    response.json(await show(context, response, request.params.id));
  });
  router.get('/expected-payments/:source/:number', requireRole('viewer'), async (request: ByKey, response) => {
    const id = idOf(context.keys, request.params);
    await auditPersonalAccess(context, response, 'expected.show', id);
    response.json(await show(context, response, id));
  });
  putRoutes(context, router);
  decisionRoutes(context, router);
  return router;
}

function putRoutes(context: Context, router: Router): void {
  const writers = requireRole('operator', 'accountant');
  const put = async (arrivals: Arrival[], actor: string) =>
    await auditChange(
      context,
      (inner) => putExpected(inner, { arrivals, actor }),
      (outcomes) => {
        const changed = outcomes.filter(isChange);
        const [first] = changed;
        const detail = changed.length > 1 ? { detail: JSON.stringify({ count: changed.length }) } : {};
        return first && { actor, action: 'expected.put', target: first.id, ...detail };
      },
    );

  router.put('/expected-payments/:source/:number', writers, async (request: ByKey, response) => {
    const key = parseInput(request.params, keySchema);
    const [outcome] = await put([{ ...key, facts: parseBody(request, expectedFactsSchema) }], getActor(response));
    if (!outcome) throw refuse('expected_unknown');
    const { status, id } = outcome;
    if (status === 'expected_cancelled' || status === 'expected_operation') throw refuse(status);
    const shown = await show(context, response, id);
    const superseded = status === 'superseded' ? { superseded: true } : {};
    response.status(status === 'created' ? CREATED : OK).json({ ...shown, ...superseded });
  });

  router.post('/expected-payments', writers, async (request, response) => {
    const given = parseBody(request, expectedManySchema).expected_payments;
    const rows = refuseRepeated(given.map(parseRow));
    const arrivals = rows.filter((row): row is Arrival => !(row instanceof ConfereError));
    const outcomes = arrivals.length > 0 ? await put(arrivals, getActor(response)) : [];
    const left = outcomes.values();
    const results = rows.map((row, index) =>
      row instanceof ConfereError ? refuseRow(row, index + 1) : presentOutcome(left.next().value, index + 1),
    );
    response.json({ results });
  });

  router.delete('/expected-payments/:source/:number', writers, async (request: ByKey, response) => {
    const [actor, id] = [getActor(response), idOf(context.keys, request.params)];
    await auditChange(
      context,
      (inner) => cancelExpected(inner, { id, actor }),
      (changed) => (changed ? { actor, action: 'expected.cancel', target: id } : undefined),
    );
    response.json(await show(context, response, id));
  });
}

function decisionRoutes(context: Context, router: Router): void {
  const writers = requireRole('operator', 'accountant');
  router.post('/expected-payments/:id/reopen', writers, async (request: ById, response) => {
    const [actor, { id }] = [getActor(response), request.params];
    const { note } = parseBody(request, expectedNoteSchema);
    await auditChange(
      context,
      (inner) => reopenExpected(inner, { id, actor, note }),
      (changed) => (changed ? { actor, action: 'expected.reopen', target: id } : undefined),
    );
    response.json(await show(context, response, id));
  });
  router.post('/expected-payments/:id/match', writers, async (request: ById, response) => {
    const [actor, { id }] = [getActor(response), request.params];
    const { transaction_id: transactionId, amount: amountCents, note } = parseBody(request, expectedMatchSchema);
    await auditChange(context, (inner) => matchExpected(inner, { id, transactionId, amountCents, actor, note }), {
      ...{ actor, action: 'expected.match', target: id },
    });
    response.json(await show(context, response, id));
  });
  router.post('/expected-payments/:id/unmatch', writers, async (request: ById, response) => {
    const [actor, { id }] = [getActor(response), request.params];
    const { transaction_id: transactionId, note } = parseBody(request, expectedUnmatchSchema);
    await auditChange(context, (inner) => unmatchExpected(inner, { id, transactionId, actor, note }), {
      ...{ actor, action: 'expected.unmatch', target: id },
    });
    response.json(await show(context, response, id));
  });
}

async function show(context: Context, response: Response, id: string) {
  const [expected] = await listExpected(context, 1, undefined, { id });
  if (!expected) throw refuse('expected_unknown');
  return withoutSeq(canSeePersonalData(response) ? expected : maskExpected(expected));
}

function parseRow({ source, number, ...facts }: Record<string, unknown>): Arrival | ConfereError {
  const parts = [
    () => parseInput({ source, number }, keySchema),
    () => parseInput(facts, expectedFactsSchema),
  ] as const;
  try {
    return { ...parts[0](), facts: parts[1]() };
  } catch (error) {
    if (error instanceof ConfereError && error.code === 'invalid_request') return error;
    throw error;
  }
}

/** Refuses all rows of a key that comes twice: which one is meant is unknown. */
function refuseRepeated(rows: (Arrival | ConfereError)[]): (Arrival | ConfereError)[] {
  const nameOf = ({ source, number }: Arrival): string => `${source} ${number}`;
  const groups = Map.groupBy(rows, (row) => (row instanceof ConfereError ? undefined : nameOf(row)));
  return rows.map((row) => {
    if (row instanceof ConfereError || groups.get(nameOf(row))?.length === 1) return row;
    return refuseFields([faultOf('number', 'expected_repeated')]);
  });
}

function refuseRow({ reason, fields }: ConfereError, row: number) {
  return { row, status: INVALID, id: null, version: null, reason, errors: fields ?? null };
}

function presentOutcome(outcome: PutOutcome | undefined, row: number) {
  if (!outcome) throw refuse('expected_unknown');
  const { status, id, version } = outcome;
  const isRefused = status === 'expected_cancelled' || status === 'expected_operation';
  const code = status === 'created' ? CREATED : isRefused ? CONFLICT : OK;
  const reason = isRefused || status === 'superseded' ? status : null;
  return { row, status: code, id, version, reason, errors: null };
}

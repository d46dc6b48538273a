/** What somebody owes us, or we owe, before the provider knows of it. */
import { z } from 'zod';
import { audit } from '../access/audit.ts';
import { maySeePersons } from '../access/roles.ts';
import type { Caller } from '../access/tokens.ts';
import type { Context } from '../context.ts';
import { centsOf } from '../domain/cents-of.ts';
import { ConfereError } from '../domain/errors.ts';
import { parseAmount } from '../domain/money.ts';
import { cancelExpected, reopenExpected } from '../expected/cancel-expected.ts';
import { EXPECTED_STATES } from '../expected/decide/decide-state.ts';
import { expectedFactsSchema, expectedKeySchema } from '../expected/expected-fields.ts';
import { idOf } from '../expected/expected-id.ts';
import {
  type ExpectedFilters as Filters,
  listExpected,
  maskExpected,
  type PresentedExpected,
} from '../expected/list-expected.ts';
import { matchExpected, unmatchExpected } from '../expected/match-by-hand.ts';
import { type Arrival, isChange, type PutOutcome, putExpected } from '../expected/put-expected.ts';
import { faultOf, refuse, refuseFields } from '../texts/refuse.ts';
import { type By, defineChange } from './define-change.ts';
import { defineList } from './define-list.ts';
import { created, ok } from './describe-operation.ts';
import { day, NO_AMOUNT } from './fields.ts';
import { parseInput } from './parse-input.ts';
import { withoutSeq } from './present-row.ts';
import { expectedPayment, expectedResults } from './rows/expected.ts';

/** How many expected payments a request may bring. */
const EXPECTED_MAX = 1_000;
/** Of a request that brings that many. */
export const EXPECTED_BODY_BYTES_MAX = 4 * 1024 * 1024;
const [OK, CREATED, CONFLICT, INVALID] = [200, 201, 409, 422];

const writers = ['operator', 'accountant'] as const;
const BY_KEY = '/expected-payments/{source}/{number}';

/** One expected payment, as the caller may see it. @throws ConfereError `not_found`. */
export async function showExpected(context: Context, id: string, caller: Caller): Promise<PresentedExpected> {
  const [expected] = await listExpected(context, 1, undefined, { id });
  if (!expected) throw refuse('expected_unknown');
  return withoutSeq(maySeePersons(caller.role) ? expected : maskExpected(expected));
}

/** The id of the expected payment whose key the address has. */
const idOfKey = ({ keys }: Context, { params }: By): string => idOf(keys, parseInput(params, expectedKeySchema));

/** The parts of a change of one that is known already. */
const changesOne = {
  roles: writers,
  answers: ok('It', expectedPayment),
  answer: (context: Context, _made: unknown, { by }: { by: By }) => showExpected(context, by.id, by.caller),
} as const;

export const putOne = defineChange({
  name: 'expected.put',
  roles: writers,
  route: `PUT ${BY_KEY}`,
  summary:
    'Expect a payment, or replace all facts of one. Equal facts change nothing. 409 for other facts of a cancelled one',
  input: expectedFactsSchema,
  answers: { ...ok('Known', expectedPayment), ...created('New', expectedPayment) },
  refuses: ['expected_cancelled', 'expected_operation'],
  async change(inner, facts, { params, caller }) {
    const arrival = { ...parseInput(params, expectedKeySchema), facts };
    const [outcome] = await putExpected(inner, { arrivals: [arrival], actor: caller.id });
    if (!outcome) throw refuse('expected_unknown');
    const { status } = outcome;
    if (status === 'expected_cancelled' || status === 'expected_operation') throw refuse(status);
    return outcome;
  },
  target: (outcome) => (isChange(outcome) ? outcome.id : undefined),
  status: ({ status }) => (status === 'created' ? CREATED : OK),
  answer: async (context, { id, status }, { by }) => ({
    ...(await showExpected(context, id, by.caller)),
    ...(status === 'superseded' ? { superseded: true } : {}),
  }),
});

export const putMany = defineChange({
  name: 'expected.put_many',
  audit: 'expected.put',
  roles: writers,
  route: 'POST /expected-payments',
  summary: 'Expect up to 1,000 payments, each by itself, with source and number beside the fields of PUT',
  input: z.strictObject({
    expected_payments: z
      .array(z.record(z.string(), z.unknown(), 'must be an expected payment'), 'must be a list')
      .min(1, 'must have at least one')
      .max(EXPECTED_MAX, `must have at most ${EXPECTED_MAX}`),
  }),
  answers: ok('What became of each, in order', expectedResults),
  async change(inner, given, { caller }) {
    const rows = refuseRepeated(given.expected_payments.map(parseRow));
    const arrivals = rows.filter((row): row is Arrival => !(row instanceof ConfereError));
    return { rows, outcomes: arrivals.length > 0 ? await putExpected(inner, { arrivals, actor: caller.id }) : [] };
  },
  target({ outcomes }) {
    const changed = outcomes.filter(isChange);
    const [first] = changed;
    if (!first) return undefined;
    return { target: first.id, ...(changed.length > 1 ? { detail: JSON.stringify({ count: changed.length }) } : {}) };
  },
  async answer(_context, { rows, outcomes }) {
    const left = outcomes.values();
    return {
      results: rows.map((row, index) =>
        row instanceof ConfereError ? refuseRow(row, index + 1) : presentOutcome(left.next().value, index + 1),
      ),
    };
  },
});

export const cancelOne = defineChange({
  ...changesOne,
  name: 'expected.cancel',
  route: `DELETE ${BY_KEY}`,
  summary: 'Cancel an expected payment',
  change: async (inner, _given, by) => {
    const id = by.params?.number === undefined ? by.id : idOfKey(inner, by);
    return { id, isChanged: await cancelExpected(inner, { id, actor: by.caller.id }) };
  },
  target: ({ id, isChanged }) => (isChanged ? id : undefined),
  answer: (context, { id }, { by }) => showExpected(context, id, by.caller),
});

const why = z.string('must say why').default('');
const transactionId = z.string('must be the id of a transaction').min(1, 'must be the id of a transaction');

export const reopenOne = defineChange({
  ...changesOne,
  name: 'expected.reopen',
  route: 'POST /expected-payments/{id}/reopen',
  summary: 'Take a cancellation back',
  input: z.strictObject({ note: why }),
  change: (inner, { note }, { id, caller }) => reopenExpected(inner, { id, actor: caller.id, note }),
  target: (isChanged, { id }) => (isChanged ? id : undefined),
});

export const matchOne = defineChange({
  ...changesOne,
  name: 'expected.match',
  route: 'POST /expected-payments/{id}/match',
  summary: 'Match a payment, or a part of it',
  input: z.strictObject({
    transaction_id: transactionId,
    note: why,
    amount: z
      .string('must be a decimal text: "1234.56"')
      .transform(centsOf(parseAmount, NO_AMOUNT))
      .refine((cents) => cents > 0n, 'must be more than zero')
      .optional()
      .describe('a part of the payment; without it, what is left of it'),
  }),
  refuses: ['transaction_unknown', 'transaction_matched'],
  change: (inner, { transaction_id, amount, note }, { id, caller }) =>
    matchExpected(inner, { id, transactionId: transaction_id, amountCents: amount, actor: caller.id, note }),
});

export const unmatchOne = defineChange({
  ...changesOne,
  name: 'expected.unmatch',
  route: 'POST /expected-payments/{id}/unmatch',
  summary: 'Undo the matches of a pair: the rules keep it apart',
  input: z.strictObject({ transaction_id: transactionId, note: why }),
  refuses: ['transaction_unknown', 'match_undone'],
  change: (inner, { transaction_id, note }, { id, caller }) =>
    unmatchExpected(inner, { id, transactionId: transaction_id, actor: caller.id, note }),
});

export const expectedFilters = z.object({
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
export type ExpectedFilters = z.infer<typeof expectedFilters>;
type Listed = Awaited<ReturnType<typeof listExpected>>[number];

export const expectedPayments = defineList<Listed, Filters>({
  name: 'expected_payments',
  roles: ['viewer'],
  route: '/expected-payments',
  row: expectedPayment,
  filters: expectedFilters,
  search: ({ platform, reference, document, name }) => ({ platform, reference, document, name }),
  read: (reading, { limit, after }, filter) => listExpected(reading, limit, after, filter),
  personal: (context, _rows, { caller, filter, via }) =>
    audit(context, {
      ...{ actor: caller.id, action: 'expected.list', target: JSON.stringify(Object.keys(filter)) },
      ...(via ? { detail: via } : {}),
    }),
  mask: (_context, rows, { role }) =>
    maySeePersons(role) ? rows : rows.map((row) => ({ ...row, ...maskExpected(withoutSeq(row)) })),
});

function parseRow({ source, number, ...facts }: Record<string, unknown>): Arrival | ConfereError {
  try {
    return { ...parseInput({ source, number }, expectedKeySchema), facts: parseInput(facts, expectedFactsSchema) };
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

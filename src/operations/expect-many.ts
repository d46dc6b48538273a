/** Many expected payments in one request, each by itself. */
import { z } from 'zod';
import type { Caller } from '../access/tokens.ts';
import { ConfereError } from '../domain/errors.ts';
import { expectedFactsSchema, expectedKeySchema } from '../expected/expected-fields.ts';
import { type Arrival, isChange, type PutOutcome, putExpected } from '../expected/put-expected.ts';
import { faultOf, refuse, refuseFields } from '../texts/refuse.ts';
import { defineChange } from './define-change.ts';
import { ok } from './describe-operation.ts';
import { requireSource, writers } from './expected.ts';
import { parseInput } from './parse-input.ts';
import { expectedResults } from './rows/expected.ts';

/** How many expected payments a request may bring. */
const EXPECTED_MAX = 1_000;
/** The size of a request that brings that many. */
export const EXPECTED_BODY_BYTES_MAX = 4 * 1024 * 1024;
const [OK, CREATED, FORBIDDEN, CONFLICT, INVALID] = [200, 201, 403, 409, 422];

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
  isForSources: true,
  async change(inner, given, { caller }) {
    const repeated = listRepeated(given.expected_payments);
    const rows = given.expected_payments.map((row) => parseRow(row, { caller, repeated }));
    const arrivals = rows.filter((row): row is Arrival => !(row instanceof ConfereError));
    const { id: actor, merchantSeq } = caller;
    return { rows, outcomes: arrivals.length > 0 ? await putExpected(inner, { arrivals, actor, merchantSeq }) : [] };
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

type Given = Record<string, unknown>;

function parseRow(
  { source, number, ...facts }: Given,
  { caller, repeated }: { caller: Caller; repeated: Set<string> },
): Arrival | ConfereError {
  try {
    const key = parseInput({ source, number }, expectedKeySchema);
    requireSource(caller, key.source);
    if (repeated.has(nameOf(key))) return refuseFields([faultOf('number', 'expected_repeated')]);
    return { ...key, facts: parseInput(facts, expectedFactsSchema) };
  } catch (error) {
    if (error instanceof ConfereError && (error.code === 'invalid_request' || error.code === 'forbidden')) return error;
    throw error;
  }
}

/** Keys that come twice: which row is meant is unknown, so all of them are refused. */
function listRepeated(rows: Given[]): Set<string> {
  const groups = Map.groupBy(rows, nameOf);
  return new Set([...groups].flatMap(([name, group]) => (group.length > 1 ? [name] : [])));
}

/** Also of what is no key: its row is refused for that. */
function nameOf({ source, number }: Given): string {
  return JSON.stringify([source, number]);
}

function refuseRow({ code, reason, fields }: ConfereError, row: number) {
  return {
    row,
    status: code === 'forbidden' ? FORBIDDEN : INVALID,
    id: null,
    version: null,
    reason,
    errors: fields ?? null,
  };
}

function presentOutcome(outcome: PutOutcome | undefined, row: number) {
  if (!outcome) throw refuse('expected_unknown');
  const { status, id, version } = outcome;
  const isRefused = status === 'expected_cancelled' || status === 'expected_operation';
  const code = status === 'created' ? CREATED : isRefused ? CONFLICT : OK;
  const reason = isRefused || status === 'superseded' ? status : null;
  return { row, status: code, id, version, reason, errors: null };
}

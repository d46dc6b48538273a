/** Many expected payments in one request, each by itself. */
import { z } from 'zod';
import type { Caller } from '../../access/tokens.ts';
import { ConfereError } from '../../domain/errors.ts';
import { expectedFactsSchema, expectedKeySchema } from '../../expected/expected-fields.ts';
import { type Arrival, isChange, type PutOutcome, putExpected } from '../../expected/put-expected.ts';
import { scopeOf } from '../../expected/read/mask-expected.ts';
import { readCompeting } from '../../expected/read/read-competing.ts';
import { faultOf, refuse, refuseFields } from '../../texts/refuse.ts';
import { defineChange } from '../define-change.ts';
import { ok } from '../describe-operation.ts';
import { parseInput } from '../parse-input.ts';
import { expectedResults } from '../rows/expected.ts';
import { writers } from './expected.ts';
import { requireSource } from './read-expected.ts';

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
      .array(z.unknown().meta({ type: 'object' }), 'must be a list')
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
  async answer({ db }, { rows, outcomes }, { by }) {
    const left = outcomes.values();
    const stored = outcomes.filter((one) => !isRefused(one)).map(({ id }) => id);
    const competing = await readCompeting(db, stored, scopeOf(by.caller));
    const present = (outcome: PutOutcome | undefined) => {
      if (!outcome) throw refuse('expected_unknown');
      return { ...presentOutcome(outcome), competing: isRefused(outcome) ? null : (competing.get(outcome.id) ?? []) };
    };
    const shown = rows.map((row) => (row instanceof ConfereError ? refuseRow(row) : present(left.next().value)));
    return { results: shown.map((row, index) => ({ row: index + 1, ...row })) };
  },
});

const rowSchema = z.record(z.string(), z.unknown(), 'must be an expected payment');

function parseRow(
  row: unknown,
  { caller, repeated }: { caller: Caller; repeated: Set<string> },
): Arrival | ConfereError {
  try {
    const { source, number, ...facts } = parseInput(row, rowSchema);
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
function listRepeated(rows: unknown[]): Set<string> {
  const groups = Map.groupBy(rows, nameOf);
  return new Set([...groups].flatMap(([name, group]) => (group.length > 1 ? [name] : [])));
}

/** Also of what is no key: its row is refused for that. */
function nameOf(row: unknown): string {
  const { source, number } = Object(row);
  return JSON.stringify([source, number]);
}

function refuseRow({ code, reason, fields }: ConfereError) {
  const status = code === 'forbidden' ? FORBIDDEN : INVALID;
  return { status, id: null, version: null, reason, errors: fields ?? null, competing: null };
}

function presentOutcome(outcome: PutOutcome) {
  const { status, id, version } = outcome;
  const code = status === 'created' ? CREATED : isRefused(outcome) ? CONFLICT : OK;
  const reason = isRefused(outcome) || status === 'superseded' ? status : null;
  return { status: code, id, version, reason, errors: null };
}

function isRefused({ status }: PutOutcome): boolean {
  return status === 'expected_cancelled' || status === 'expected_operation';
}

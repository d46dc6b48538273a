/** Differences between the ledger and the provider, and what people decide about them. */
import { z } from 'zod';
import { auditShown } from '../access/audit.ts';
import { maySeePersons } from '../access/roles.ts';
import type { Context } from '../context.ts';
import { MISMATCH_KINDS, MISMATCH_STATES, type MismatchKind } from '../domain/mismatch.ts';
import { listTransactionIds } from '../domain/person/mask-mismatch.ts';
import { assignMismatch } from '../mismatches/assign-mismatch.ts';
import { findMismatch, listMismatches, MISMATCH_SORTS, type PresentedMismatch } from '../mismatches/read-mismatches.ts';
import { acknowledgeMany, RESOLVED_MAX, resolveMany, type Selection } from '../mismatches/resolve-many.ts';
import {
  acknowledgeMismatch,
  type Decision,
  MISMATCH_NOTE_CHARS_MAX,
  resolveMismatchByHand,
} from '../mismatches/resolve-mismatch-by-hand.ts';
import { acceptMismatchOrSurplus } from '../reconciliation/windows/accept-surplus.ts';
import { findBlockers } from '../reports/months/find-refusals.ts';
import { refuse } from '../texts/refuse.ts';
import { type By, type Change, defineChange } from './define-change.ts';
import { defineItem, type ReadBy } from './define-item.ts';
import { auditRows, defineList } from './define-list.ts';
import { ok } from './describe-operation.ts';
import { day, instant, month, platform, wholeNumber } from './fields.ts';
import { maskMismatches } from './mask-texts.ts';
import { presentWritten } from './present-row.ts';
import { mismatch } from './rows/reconciliation.ts';

const kind = z.enum(MISMATCH_KINDS, 'is no kind of mismatch').optional();
const noted = z.object({ note: z.string().max(MISMATCH_NOTE_CHARS_MAX).optional() });

type Handled = { note?: string | undefined; actual?: unknown };

async function answerMismatch(context: Context, _made: unknown, { by }: { by: By }) {
  return presentWritten(await findMismatch(context, by.id));
}

/** Declares what a person decides about one mismatch, perhaps by the evidence that they saw. */
function decision(
  verb: 'acknowledge' | 'resolve' | 'accept',
  decide: (inner: Context, id: string, by: Decision) => Promise<void>,
  more: Pick<Change<Handled, void>, 'summary' | 'input' | 'refuses'> & { done: string },
): Change<Handled, void> {
  const { done, refuses = [], ...about } = more;
  return defineChange<Handled, void>({
    ...{ ...about, name: `mismatches.${verb}`, route: `POST /mismatches/{id}/${verb}`, roles: ['operator'] },
    answers: ok(done, mismatch),
    refuses: ['mismatch_unknown', 'mismatch_resolved', ...refuses],
    change: (inner, given, { caller, id }) => decide(inner, id, { note: undefined, ...given, actor: caller.id }),
    after: async ({ wakeUps }) => wakeUps.alerts.notify(),
    answer: answerMismatch,
  });
}

export const mismatchDecisions = {
  acknowledge: decision('acknowledge', acknowledgeMismatch, {
    summary: 'Acknowledge a mismatch: somebody works on it',
    input: noted,
    done: 'Acknowledged',
  }),
  resolve: decision('resolve', resolveMismatchByHand, {
    summary: 'Resolve a mismatch by hand, with the reason; the ledger stays as it is',
    input: noted.extend({
      actual: z.unknown().optional().describe('the `actual` that you saw: 409 if it has changed since'),
    }),
    refuses: ['mismatch_changed'],
    done: 'Resolved',
  }),
  accept: decision('accept', acceptMismatchOrSurplus, {
    summary:
      'Book what the provider shows (amount_differs, commission_differs, reference_differs, status_differs): by reversing entries; of a list_unstable with `actual.surplus`, accept that the total is too high by it: the day counts as proven while that number stays; merchants receive pix.<operation>.corrected. `actual` is the evidence that the caller saw, as the mismatch shows it: 422 without it, 409 when it has changed since, or the provider shows it no more',
    input: noted.extend({
      actual: z.unknown().refine((value) => value !== undefined, 'is required: the `actual` that you saw'),
    }),
    refuses: [
      ...(['mismatch_changed', 'mismatch_not_acceptable', 'surplus_not_acceptable', 'evidence_unreadable'] as const),
      ...(['evidence_without_event', 'evidence_booked', 'evidence_of_extra', 'evidence_of_creation'] as const),
      'evidence_without_history',
    ],
    done: 'Accepted',
  }),
};

export const assignOneMismatch = defineChange({
  name: 'mismatches.assign',
  roles: ['operator', 'accountant'],
  route: 'POST /mismatches/{id}/assign',
  summary: 'Give a mismatch to its owner, who is to decide it',
  input: noted.extend({
    owner: z
      .string('must be the id of a user or a token, or null')
      .min(1, 'must be the id of a user or a token, or null')
      .nullable()
      .describe('the id of a user or a token that can log in; null: nobody'),
  }),
  answers: ok('Given', mismatch),
  refuses: ['mismatch_unknown', 'mismatch_resolved'],
  change: (inner, { owner, note }, { caller, id }) => assignMismatch(inner, id, { owner, note, actor: caller.id }),
  target: (isChanged, { id, via }, { owner }) =>
    isChanged ? { target: id, detail: [...(via ? [via] : []), JSON.stringify({ owner })].join(' ') } : undefined,
  answer: answerMismatch,
});

/** The scope of an alert. */
export const CAUSE_CHARS_MAX = 160;
const cause = z
  .string()
  .min(1)
  .max(CAUSE_CHARS_MAX)
  .describe('the scope of the alert: a run, or a severity and an hour');
const SELECTIONS = 'name either ids, or a kind';
const selected = z
  .strictObject({
    ids: z.array(z.string().min(1)).min(1).max(RESOLVED_MAX, `must be at most ${RESOLVED_MAX} ids`).optional(),
    kind,
    cause: cause.optional(),
    opened_before: instant.optional().describe('default: now'),
    note: noted.shape.note.describe('required where a critical one is selected'),
  })
  .refine(({ ids, kind: all }) => (ids === undefined) !== (all === undefined), SELECTIONS)
  .refine(({ ids, cause, opened_before }) => !ids || (cause ?? opened_before) === undefined, SELECTIONS);

function selectionOf({ ids, kind: all, cause, opened_before: before }: z.infer<typeof selected>): Selection {
  // the schema requires a kind without ids
  return ids ? { ids } : { kind: all as MismatchKind, cause, openedBefore: before ? new Date(before) : undefined };
}

export const resolveMismatches = defineChange({
  name: 'mismatches.resolve_many',
  audits: 'itself',
  roles: ['operator'],
  route: 'POST /mismatches/resolve',
  summary: `Resolve up to ${RESOLVED_MAX} by hand, with one note: by their ids, or all of a kind; repeat while there are \`more\``,
  input: selected,
  answers: ok('Resolved', z.object({ resolved: z.int(), more: z.boolean() })),
  refuses: ['mismatches_unknown'],
  change: (context, given, { caller }) =>
    resolveMany(context, selectionOf(given), { actor: caller.id, note: given.note }),
  answer: async (_context, made) => made,
});

export const acknowledgeMismatches = defineChange({
  name: 'mismatches.acknowledge_many',
  audits: 'itself',
  roles: ['operator'],
  summary: 'Acknowledge all of a kind',
  input: selected,
  answers: ok('Acknowledged', z.object({ acknowledged: z.int(), more: z.boolean() })),
  change: (context, given, { caller }) =>
    acknowledgeMany(context, selectionOf(given), { actor: caller.id, note: given.note }),
});

/** A century: more is no age of a mismatch. */
const AGE_DAYS_MAX = 36_500;

const STATES = [...MISMATCH_STATES, 'unresolved'] as const;

export const mismatchFilters = z.object({
  state: z
    .enum(STATES, `must be one of ${STATES.join(', ')}`)
    .optional()
    .describe('unresolved: open or acknowledged'),
  kind: kind.describe('of this kind'),
  severity: z.enum(['medium', 'high', 'critical'], 'must be medium, high or critical').optional(),
  transaction_id: z.string().min(1).optional().describe('of this transaction'),
  owner: z.string().min(1).optional().describe('of this user or token, by its id; none: what has no owner'),
  age: wholeNumber(0, AGE_DAYS_MAX).optional().describe('open for at least this number of days'),
  cause: cause.optional(),
  platform: platform.optional().describe('that concern this platform, alone or among all'),
  decided: z
    .literal('true', 'must be true')
    .optional()
    .describe('resolved by a person, while the evidence is the same'),
  baseline: z.literal('true', 'must be true').optional().describe('about changes before WEBHOOKS_SINCE'),
  sort: z
    .enum(MISMATCH_SORTS, `must be one of ${MISMATCH_SORTS.join(', ')}`)
    .optional()
    .describe('the longest open first, or the most at stake (default: the newest first)'),
  from: day.optional().describe('whose `day`, mostly of the payment, is this or later: YYYY-MM-DD'),
  to: day.optional().describe('whose `day` is this or earlier'),
  blocks: month.optional().describe('that keep this month open (YYYY-MM), as its page says; without stated balances'),
});

/** The query of the API, and what a page names besides. */
type MismatchFilter = z.infer<typeof mismatchFilters> & { ids?: readonly string[]; named?: string };

export const mismatches = defineList<PresentedMismatch, MismatchFilter>({
  name: 'mismatches',
  roles: ['viewer'],
  route: '/mismatches',
  row: mismatch,
  filters: mismatchFilters,
  async read(reading, page, { transaction_id: transactionId, blocks, decided, baseline, ...filter }) {
    const ids = blocks === undefined ? filter.ids : (await findBlockers(reading, blocks)).map(({ id }) => id);
    const flags = { decided: decided !== undefined, baseline: baseline !== undefined };
    return await listMismatches(reading, { ...filter, ...flags, ids, transactionId, ...page });
  },
  personal: auditRows('mismatches.list', listTransactionIds),
  mask: ({ db }, rows, { role }) => (maySeePersons(role) ? rows : maskMismatches(db, rows)),
});

export const oneMismatch = defineItem({
  route: '/mismatches/{id}',
  summary: 'One mismatch',
  item: mismatch,
  async read(context, by) {
    const found = await findMismatch(context, by.id);
    if (!found) throw refuse('mismatch_unknown');
    return await showMismatch(context, found, by);
  },
});

/** Shows a mismatch as this caller may see it. Who sees persons is audited. */
export async function showMismatch(
  context: Context,
  found: PresentedMismatch,
  { caller, via }: Pick<ReadBy, 'caller' | 'via'>,
): Promise<PresentedMismatch> {
  if (!maySeePersons(caller.role)) return (await maskMismatches(context.db, [found]))[0] ?? found;
  const done = { actor: caller.id, action: 'mismatches.show', target: found.id } as const;
  await auditShown(context, done, { transactions: listTransactionIds(found), via });
  return found;
}

import type { Selectable } from 'kysely';
import type { Database } from '../../database/tables.ts';
import { chooseState, type ExpectedState, nameReason } from '../decide/decide-state.ts';
import { KEY_RULES } from '../decide/facts.ts';

type Amounts = 'is_cancelled' | 'amount_cents' | 'settled_cents' | 'returned_cents' | 'parts_settled' | 'paid_day';
type Lacks = 'reason_code' | 'first_lack' | 'last_lack';
type Stored = Pick<Selectable<Database['expected_payments']>, Amounts | Lacks> & {
  state: ExpectedState;
  shares_key: number;
};

/** Rules whose matches a cancellation does not withdraw. */
const LASTING_RULES: readonly string[] = ['person', ...KEY_RULES];
const UNPAID_STATES: readonly ExpectedState[] = ['unpaid', 'not_proven'];

/**
 * The state that an order shows: as stored once it is decided; else what its facts of now and the parts known so far make, so that
 * state and amounts agree. The paid day stays only of an order that was and is `paid`: another amount is reached on another day. Pure.
 */
export function presumeState<T extends Stored>(row: T, matches: readonly { rule: string }[], decided: boolean): T {
  if (decided) return row;
  if (row.is_cancelled === 1) {
    const lasting = Number(row.shares_key) === 1 ? ['person'] : LASTING_RULES;
    const isPaid = row.settled_cents > 0n && matches.some(({ rule }) => lasting.includes(rule));
    const state = isPaid ? 'paid_after_cancel' : 'cancelled';
    return { ...row, state, paid_day: null, reason_code: state, first_lack: null, last_lack: null };
  }
  const [amountCents, settledCents, returnedCents] = [row.amount_cents, row.settled_cents, row.returned_cents];
  const sums = { settledCents, returnedCents, parts: row.parts_settled };
  const state = chooseState({ amountCents, isCancelled: false, isOver: false, lacks: 0 }, sums);
  const paid_day = state === 'paid' && row.state === 'paid' ? row.paid_day : null;
  // whether its days are over and proven is the follower's to say
  if (state === row.state || (state === 'open' && UNPAID_STATES.includes(row.state))) return { ...row, paid_day };
  return { ...row, state, paid_day, reason_code: nameReason(state, false), first_lack: null, last_lack: null };
}

import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Context } from '../../src/context.ts';
import { addDays } from '../../src/domain/calendar.ts';
import { ConfereError } from '../../src/domain/errors.ts';
import { completeCpf } from '../../src/domain/person/find-documents.ts';
import { cancelExpected, reopenExpected } from '../../src/expected/cancel-expected.ts';
import { expectedFactsSchema } from '../../src/expected/expected-fields.ts';
import { matchExpected, unmatchExpected } from '../../src/expected/match-by-hand.ts';
import { putExpected } from '../../src/expected/put-expected.ts';
import { applyObservations } from '../../src/ledger/apply/apply-observations.ts';
import { acceptMismatch } from '../../src/ledger/correct/accept-mismatch.ts';
import { advanceUntilDone } from './advance-until-done.ts';
import type { TestEnvironment } from './open-environment.ts';
import { drawFrom } from './property.ts';
import { observeNow, readMismatchRows } from './read-ledger-state.ts';
import {
  matchByContract,
  type ReferenceExpected,
  type ReferencePairs,
  type ReferencePayment,
  stateByContract,
} from './reference-expected.ts';
import { runCommandInProcess } from './run-command-in-process.ts';

/** The day from which days are drawn. */
export const BEGIN = '2026-01-01';
/** Days, by number, that no reading has proven. */
export const GAP = { from: 40, to: 44 };
const LATER = '2999-01-01';
/** Statuses that may come after one, '' of a new payment. */
const NEXT: Record<string, (keyof typeof STATES)[]> = {
  '': ['pending', 'paid', 'paid'],
  ...{ pending: ['paid', 'paid', 'paid', 'canceled'], paid: ['refund'] },
};
const STATES = { pending: 'pending', paid: 'settled', refund: 'returned', canceled: 'none' } as const;
const by = { actor: 'tok_1', note: 'visto' };

type OwnExpected = ReferenceExpected & { id: string; number: string; isOpen: boolean; revised: string | null };
type OwnPayment = ReferencePayment & { id: string; history: string[]; shown: number };
type Part = { pair: [number, number]; amount: number };

/** Draws steps, takes them, and says what the contract makes of them. */
export class ExpectedModel {
  readonly expected: OwnExpected[] = [];
  readonly payments: OwnPayment[] = [];
  parts: Part[] = [];
  readonly undone: ReferencePairs = [];
  readonly draw: (n: number) => number;
  /** No value is another round's. */
  readonly round: string;
  readonly documents: string[];
  static #documents = 100_000_000;

  readonly environment: TestEnvironment;
  readonly contexts: Context[];

  /** @param contexts of two processes on one database. */
  constructor(seed: number, { environment, contexts }: { environment: TestEnvironment; contexts: Context[] }) {
    this.environment = environment;
    this.contexts = contexts;
    this.draw = drawFrom(seed);
    this.round = randomUUID().slice(0, 8);
    this.documents = [1, 2].map(() => completeCpf(String(ExpectedModel.#documents++)));
  }

  pick<T>(...values: T[]): T {
    return values[this.draw(values.length)] as T;
  }

  own(text: string | null): string | null {
    return text && `${text}-${this.round}`;
  }

  one<T>(list: T[]): T | undefined {
    return list[this.draw(Math.max(1, list.length))];
  }

  get context(): Context {
    return this.pick(...this.contexts);
  }

  async put(): Promise<void> {
    const known = this.draw(3) === 0 ? this.one(this.expected) : undefined;
    const [issued, due] = [this.draw(30), this.draw(30)];
    const given = {
      ...{ operation: this.pick('cashin', 'cashin', 'cashin', 'cashout'), amount: this.pick(1000, 1000, 700) },
      ...{ platform: this.pick(null, null, 'p', 'q'), extra: this.own(this.pick(null, 'x', 'y')) },
      references: ['r', 's'].filter(() => this.draw(4) === 0).map((text) => this.own(text) ?? ''),
      e2eIds: this.draw(5) === 0 ? [this.own('E1') ?? ''] : [],
      ...{ document: this.pick(null, ...this.documents), issued, due: issued + due },
    };
    const number = known?.number ?? `${this.round}-${this.expected.length}`;
    const isOpen = this.draw(4) === 0;
    const revised = this.pick(null, null, ...[1, 2, 3].map((hour) => `2026-01-01T0${hour}:00:00.000Z`));
    const facts = expectedFactsSchema.parse({
      ...{ operation: given.operation, amount: (given.amount / 100).toFixed(2), platform: given.platform },
      ...{ references: given.references, e2e_ids: given.e2eIds, extra: given.extra, document: given.document },
      ...{ issued_day: addDays(BEGIN, given.issued), due_day: addDays(BEGIN, given.due) },
      ...{ valid_until: isOpen ? LATER : null, revised_at: revised },
    });
    const arrivals = [{ source: 'shop', number, facts }];
    const [outcome] = await putExpected(this.context, { arrivals, actor: 'tok_1' });
    const before = known?.revised ?? null;
    const isOlder = revised !== null && before !== null && revised < before;
    expect(outcome?.status === 'superseded').toBe(isOlder);
    if (!outcome || isOlder || outcome.status === 'expected_cancelled' || outcome.status === 'expected_operation')
      return;
    if (known) known.revised = revised ?? before;
    if (outcome.status === 'unchanged') return;
    if (known) Object.assign(known, given, { isOpen });
    else
      this.expected.push({
        ...{ ...given, id: outcome.id, number, isOpen, revised, seq: this.expected.length + 1, source: 'shop' },
        cancelled: false,
      });
  }

  async pay(): Promise<void> {
    const known = this.draw(2) === 0 ? this.one(this.payments) : undefined;
    const payment: OwnPayment = known ?? {
      ...{ id: randomUUID(), history: [], shown: 0, seq: this.payments.length + 1, state: 'pending' },
      ...{ operation: this.pick('cashin', 'cashin', 'cashin', 'cashout'), amount: this.pick(1000, 1000, 700) },
      ...{
        platform: this.pick(null, 'p', 'q'),
        reference: this.own(this.pick(null, null, 'r', 's')),
        day: this.draw(70),
      },
      ...{ e2eId: this.own(this.pick(null, null, null, 'E1')), extra: this.own(this.pick(null, 'x', 'y')) },
      document: this.pick(null, ...this.documents),
    };
    const status = this.pick(...(NEXT[payment.history.at(-1) ?? ''] ?? []));
    if (status === undefined) return;
    payment.history.push(status);
    payment.state = STATES[status];
    await this.show(payment);
    if (!known) this.payments.push(payment);
  }

  /** The provider shows another amount, and a person accepts it. */
  async correct(): Promise<void> {
    const payment = this.one(this.payments);
    if (!payment) return;
    const before = payment.amount;
    payment.amount = this.pick(...[700, 900, 1000].filter((amount) => amount !== before));
    await this.show(payment);
    const rows = await readMismatchRows(this.context, 'amount_differs');
    const open = rows.find((row) => row.transaction_id === payment.id && row.state === 'open');
    await acceptMismatch(this.context, open?.id ?? '', by);
  }

  async show(payment: OwnPayment): Promise<void> {
    const day = addDays(BEGIN, payment.day);
    const events = payment.history.map((name, at) => ({ status: name, date_created: `${day} 10:0${at}:00` }));
    const texts = { platform: payment.platform, reference: payment.reference, e2e_id: payment.e2eId };
    const row = {
      ...{ id: payment.id, operation: payment.operation as 'cashin', status: payment.history.at(-1) ?? '' },
      ...{ date_created: `${day} 10:00:00`, amount: (payment.amount / 100).toFixed(2), events: events.toReversed() },
      ...Object.fromEntries(
        Object.entries({ ...texts, extra: payment.extra, document: payment.document }).filter(
          ([, text]) => text !== null,
        ),
      ),
    };
    payment.shown++;
    await applyObservations(this.context, [observeNow(this.context, row, payment.shown)]);
  }

  /** Texts of a person go: no match does. */
  async forget(): Promise<void> {
    const { env, timers } = this.environment;
    const args = ['forget', '--document', this.pick(...this.documents), '--json'];
    const { code } = await advanceUntilDone(this.environment, runCommandInProcess(args, env, timers));
    expect(code).toBe(0);
  }

  async cancel(): Promise<void> {
    const one = this.one(this.expected);
    if (!one) return;
    await (one.cancelled
      ? reopenExpected(this.context, { id: one.id, ...by })
      : cancelExpected(this.context, { id: one.id, ...by }));
    one.cancelled = !one.cancelled;
  }

  async match(): Promise<void> {
    const [one, payment] = [this.one(this.expected), this.one(this.payments)];
    if (!one || !payment) return;
    const given = this.draw(2) === 0 ? 300 : undefined;
    const taken = this.parts.filter(({ pair }) => pair[1] === payment.seq).reduce((sum, part) => sum + part.amount, 0);
    const amountCents = given === undefined ? undefined : BigInt(given);
    const isDone = await this.tries(() =>
      matchExpected(this.context, { ...by, id: one.id, transactionId: payment.id, amountCents }),
    );
    if (isDone) this.parts.push({ pair: [one.seq, payment.seq], amount: given ?? payment.amount - taken });
  }

  async unmatch(): Promise<void> {
    const [one, payment] = [this.one(this.expected), this.one(this.payments)];
    if (!one || !payment) return;
    const isDone = await this.tries(() =>
      unmatchExpected(this.context, { ...by, id: one.id, transactionId: payment.id }),
    );
    if (!isDone) return;
    this.parts = this.parts.filter(({ pair }) => pair[0] !== one.seq || pair[1] !== payment.seq);
    this.undone.push([one.seq, payment.seq]);
  }

  /** @returns whether it was not refused. */
  async tries(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (error instanceof ConfereError && ['conflict', 'invalid_request'].includes(error.code)) return false;
      throw error;
    }
  }

  /** Parts of a payment sum to its amount at most, also once it was lowered: the first ones count. */
  amountOf(part: Part): number {
    const before = this.parts.slice(0, this.parts.indexOf(part)).filter(({ pair }) => pair[1] === part.pair[1]);
    const taken = before.reduce((sum, { amount }) => sum + amount, 0);
    const whole = this.payments.find(({ seq }) => seq === part.pair[1])?.amount ?? 0;
    return Math.max(0, Math.min(part.amount, whole - taken));
  }

  /** State and matches of each expected payment by the contract. */
  foretell(isProven: boolean): string[] {
    const byPerson = this.parts.map(({ pair }) => pair);
    const made = matchByContract(this.expected, this.payments, { byPerson, undone: this.undone });
    return this.expected.map((one) => {
      const own = made.filter((text) => text.startsWith(`${one.seq}-`)).map((text) => text.slice(`${one.seq}-`.length));
      const hand = this.parts.filter(({ pair }) => pair[0] === one.seq);
      const find = (seq: number) => this.payments.find((payment) => payment.seq === seq);
      const parts = [
        ...own
          .map((text) => find(Number.parseInt(text, 10)))
          .map((p) => ({ amount: p?.amount ?? 0, state: p?.state ?? '' })),
        ...hand.map((part) => ({ amount: this.amountOf(part), state: find(part.pair[1])?.state ?? '' })),
      ].filter(({ amount }) => amount > 0);
      const proven = isProven || one.due < GAP.from || one.issued > GAP.to;
      const state = stateByContract({ ...one, over: !one.isOpen, proven }, parts);
      return `${one.seq} ${state}: ${[...own, ...hand.map(({ pair }) => `${pair[1]} person`)].sort().join(', ')}`;
    });
  }
}

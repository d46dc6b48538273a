/**
 * Expected payments, payments, people's matches and two followers in random orders: after each storm the matches and states are those of
 * the contract, read literally (test/support/reference-expected.ts).
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { addDays } from '../../../src/domain/calendar.ts';
import { ConfereError } from '../../../src/domain/errors.ts';
import { completeCpf } from '../../../src/domain/person/find-documents.ts';
import { cancelExpected, reopenExpected } from '../../../src/expected/cancel-expected.ts';
import { expectedFactsSchema } from '../../../src/expected/expected-fields.ts';
import { decideAll } from '../../../src/expected/follow/follow-payments.ts';
import { matchExpected, unmatchExpected } from '../../../src/expected/match-by-hand.ts';
import { putExpected } from '../../../src/expected/put-expected.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { drawFrom } from '../../support/make-expected.ts';
import { recordReadDays } from '../../support/make-report-transactions.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { chooseSeed, numRuns } from '../../support/property.ts';
import { observeNow } from '../../support/read-ledger-state.ts';
import {
  matchByContract,
  type ReferenceExpected,
  type ReferencePairs,
  type ReferencePayment,
  stateByContract,
} from '../../support/reference-expected.ts';

const BEGIN = '2026-01-01';
const LATER = '2999-01-01';
const STEPS = 40;
const BY_PERSON = ['match', 'unmatch', 'unmatch'] as const;
const by = { actor: 'tok_1', note: 'visto' };

let environment: TestEnvironment;
let contexts: Context[];
beforeAll(async () => {
  environment = await openEnvironment();
  contexts = [environment.context, await environment.replica()];
  for (let at = 0; at < 200; at += 5)
    await recordReadDays(contexts[0] as Context, addDays(BEGIN, at), addDays(BEGIN, at + 4), new Date());
});
afterAll(() => environment[Symbol.asyncDispose]());

type OwnExpected = ReferenceExpected & { id: string; number: string; isOpen: boolean };
type OwnPayment = ReferencePayment & { id: string; history: string[]; shown: Record<string, string> };
type Part = { pair: [number, number]; amount: number };

class Model {
  readonly expected: OwnExpected[] = [];
  readonly payments: OwnPayment[] = [];
  parts: Part[] = [];
  readonly undone: ReferencePairs = [];
  readonly draw: (n: number) => number;
  /** No value is another round's. */
  readonly round: string;
  readonly documents: string[];

  constructor(seed: number) {
    this.draw = drawFrom(seed);
    this.round = randomUUID().slice(0, 8);
    this.documents = [1, 2].map(() => completeCpf(String(100_000_000 + this.draw(800_000_000))));
  }

  pick<T>(...values: T[]): T {
    return values[this.draw(values.length)] as T;
  }

  one<T>(list: T[]): T | undefined {
    return list[this.draw(Math.max(1, list.length))];
  }

  get context(): Context {
    return this.pick(...contexts);
  }

  async put(): Promise<void> {
    const known = this.draw(3) === 0 ? this.one(this.expected) : undefined;
    const [issued, due] = [this.draw(30), this.draw(30)];
    const own = (text: string | null): string | null => text && `${text}-${this.round}`;
    const given = {
      ...{ operation: this.pick('cashin', 'cashin', 'cashin', 'cashout'), amount: this.pick(1000, 1000, 700) },
      ...{ platform: this.pick(null, null, 'p', 'q'), extra: own(this.pick(null, 'x', 'y')) },
      references: ['r', 's'].filter(() => this.draw(4) === 0).map((text) => own(text) ?? ''),
      e2eIds: this.draw(5) === 0 ? [own('E1') ?? ''] : [],
      ...{ document: this.pick(null, ...this.documents), issued, due: issued + due },
    };
    const number = known?.number ?? `${this.round}-${this.expected.length}`;
    const isOpen = this.draw(4) === 0;
    const facts = expectedFactsSchema.parse({
      ...{ operation: given.operation, amount: (given.amount / 100).toFixed(2), platform: given.platform },
      ...{ references: given.references, e2e_ids: given.e2eIds, extra: given.extra, document: given.document },
      ...{ issued_day: addDays(BEGIN, given.issued), due_day: addDays(BEGIN, given.due) },
      valid_until: isOpen ? LATER : null,
    });
    const arrivals = [{ source: 'shop', number, facts }];
    const [outcome] = await putExpected(this.context, { arrivals, actor: 'tok_1' });
    if (!outcome || !['created', 'changed'].includes(outcome.status)) return;
    if (known) Object.assign(known, given, { isOpen });
    else
      this.expected.push({
        ...{
          ...given,
          id: outcome.id,
          number,
          isOpen,
          seq: this.expected.length + 1,
          source: 'shop',
          cancelled: false,
        },
      });
  }

  async pay(): Promise<void> {
    const known = this.draw(2) === 0 ? this.one(this.payments) : undefined;
    const own = (text: string | null): string | null => text && `${text}-${this.round}`;
    const payment: OwnPayment = known ?? {
      ...{ id: randomUUID(), history: [], shown: {}, seq: this.payments.length + 1, state: 'pending' },
      ...{ operation: this.pick('cashin', 'cashin', 'cashin', 'cashout'), amount: this.pick(1000, 1000, 700) },
      ...{ platform: this.pick(null, 'p', 'q'), reference: own(this.pick(null, null, 'r', 's')), day: this.draw(70) },
      ...{ e2eId: own(this.pick(null, null, null, 'E1')), extra: own(this.pick(null, 'x', 'y')) },
      document: this.pick(null, ...this.documents),
    };
    const next = { pending: this.pick('paid', 'paid', 'paid', 'canceled'), settled: 'refund' } as Record<
      string,
      string
    >;
    const status = payment.history.length === 0 ? this.pick('pending', 'paid', 'paid') : next[payment.state];
    if (status === undefined) return;
    payment.history.push(status);
    payment.state = ({ pending: 'pending', paid: 'settled', refund: 'returned' } as const)[status] ?? 'none';
    const day = addDays(BEGIN, payment.day);
    const events = payment.history.map((name, at) => ({ status: name, date_created: `${day} 10:0${at}:00` }));
    const texts = { platform: payment.platform, reference: payment.reference, e2e_id: payment.e2eId };
    const row = {
      ...{ id: payment.id, operation: payment.operation as 'cashin', status, date_created: `${day} 10:00:00` },
      ...{ amount: (payment.amount / 100).toFixed(2), events: events.toReversed() },
      ...Object.fromEntries(
        Object.entries({ ...texts, extra: payment.extra, document: payment.document }).filter(
          ([, text]) => text !== null,
        ),
      ),
    };
    const { context } = this;
    await applyObservations(context, [observeNow(context, row, payment.history.length)]);
    if (!known) this.payments.push(payment);
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

  /** What the contract says: state and matches of each expected payment. */
  foretell(): string[] {
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
        ...hand.map(({ pair, amount }) => ({ amount, state: find(pair[1])?.state ?? '' })),
      ];
      const state = stateByContract({ ...one, over: !one.isOpen, proven: true }, parts);
      return `${one.seq} ${state}: ${[...own, ...hand.map(({ pair }) => `${pair[1]} person`)].sort().join(', ')}`;
    });
  }

  async read(): Promise<string[]> {
    const { db } = environment.context;
    const [seqOf, seqOfPayment] = [new Map<string, number>(), new Map<string, number>()];
    for (const { id, seq } of this.expected) seqOf.set(id, seq);
    for (const { id, seq } of this.payments) seqOfPayment.set(id, seq);
    const rows = await db
      .selectFrom('expected_payments as head')
      .leftJoin('expected_matches as made', (join) =>
        join.onRef('made.expected_seq', '=', 'head.seq').on('made.part', 'is not', null),
      )
      .leftJoin('expected_matches as undone', 'undone.undoes_seq', 'made.seq')
      .leftJoin('transactions', 'transactions.seq', 'made.transaction_seq')
      .select(['head.id', 'head.state', 'made.rule', 'transactions.id as paid_by', 'undone.seq as undone_by'])
      .where('head.number', 'like', `${this.round}-%`)
      .execute();
    const groups = Map.groupBy(rows, (row) => row.id);
    return this.expected.map(({ id, seq }) => {
      const own = groups.get(id) ?? [];
      const matches = own.flatMap((row) =>
        row.paid_by && row.undone_by === null ? `${seqOfPayment.get(row.paid_by)} ${row.rule}` : [],
      );
      return `${seq} ${own[0]?.state}: ${matches.sort().join(', ')}`;
    });
  }
}

/** Lets either process follow, or both at once. */
async function follow(model: Model): Promise<void> {
  const { db } = environment.context;
  await db.updateTable('expected_following').set({ lease_until: null }).execute();
  if (model.draw(3) === 0) await Promise.all(contexts.map(decideAll));
  else await decideAll(model.context);
}

test('after any storm, matches and states are those of the contract', { timeout: 600_000 }, async () => {
  const seed = chooseSeed(Math.floor(Math.random() * 2 ** 31));
  for (let round = 0; round < numRuns(6, 400); round++) {
    const model = new Model(seed + round);
    for (let step = 0; step < STEPS; step++) {
      const name = model.pick(
        'put',
        'put',
        'put',
        'put',
        'pay',
        'pay',
        'pay',
        'pay',
        'cancel',
        ...BY_PERSON,
        'follow' as const,
      );
      if (name === 'follow') await follow(model);
      // a follower meets the locks of who writes
      else if (model.draw(4) === 0) await Promise.all([model[name](), follow(model)]);
      else await model[name]();
    }
    await environment.context.db.updateTable('expected_following').set({ lease_until: null }).execute();
    await decideAll(model.context);
    expect(await model.read(), `round ${round}`).toEqual(model.foretell());
  }
});

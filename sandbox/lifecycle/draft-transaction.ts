import { commissionOf } from '../domain/money.ts';
import { makeUuid, type Random } from '../domain/random.ts';
import type { WallClock } from '../domain/wall-clock.ts';
import type { Switches } from '../faults/switches.ts';
import { makeE2eId } from '../pix/make-e2e-id.ts';
import type { NewTransaction } from '../store/insert-transactions.ts';
import type { Charge } from '../traffic/make-charge.ts';
import type { PlannedStep } from './plan-steps.ts';

export type Draft = {
  charge: Charge;
  createdMs: number;
  /** steps up to this instant become events, later ones stay planned */
  nowMs: number;
  plannedSteps: readonly PlannedStep[];
  /** true if no other transaction that a client creates may have its reference */
  claimsReference: boolean;
};

/** Makes a transaction to store, with its past events and planned steps. Pure, apart from the random stream. */
export function draftTransaction(random: Random, clock: WallClock, switches: Switches, draft: Draft): NewTransaction {
  const { charge, createdMs, nowMs, plannedSteps } = draft;
  const created_wall = clock.toWall(createdMs);
  const events = [{ status: 'pending', at_wall: created_wall }];
  const steps: Array<{ status: string; due_at: Date }> = [];
  let e2e_id = '';
  const id = makeUuid(random);
  for (const { status, afterMs } of plannedSteps) {
    const atMs = createdMs + afterMs;
    if (atMs > nowMs) steps.push({ status, due_at: new Date(atMs) });
    else {
      events.push({ status, at_wall: clock.toWall(atMs) });
      if (status === 'paid' && e2e_id === '') e2e_id = makeE2eId(random, atMs);
    }
  }
  const last = events.at(-1) ?? { status: 'pending', at_wall: created_wall };
  return {
    row: {
      id,
      operation: charge.operation,
      status: last.status,
      amount_cents: charge.amountCents,
      commission_cents: commissionOf(charge.amountCents, switches.creation.commission[charge.operation]),
      created_wall,
      updated_wall: last.at_wall,
      name: charge.name,
      email: charge.email,
      phone: charge.phone,
      document: charge.document,
      description: charge.description,
      platform: charge.platform,
      reference: charge.reference,
      claim: draft.claimsReference ? charge.reference : null,
      extra: charge.extra,
      e2e_id,
      pix_key: charge.pixKey,
      shown: null,
    },
    events,
    steps,
  };
}

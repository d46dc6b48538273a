import { createCalendar, type WallTime } from '../../domain/calendar.ts';

/** A paid event by the provider's wall clock, and the minute (UTC) inside its end-to-end id. */
export type ZoneSample = { wall: WallTime; minute: Date };
export type ZoneVerdict =
  | { state: 'unknown' }
  | { state: 'fits' }
  /** `zone`: the zone that fits, undefined if none of the candidates does. `offsetMs`: the provider's clock minus UTC. */
  | { state: 'differs'; medianMs: number; offsetMs: number; zone: string | undefined };

/** With fewer payments the result is `unknown`: some ids are malformed, and some payments are reported late. */
const PAYMENTS_MIN = 20;
const OFF_MS_MIN = 30 * 60_000;
/** Brazil's zones, the most likely first, then UTC, which servers use. */
const CANDIDATES = ['America/Sao_Paulo', 'America/Manaus', 'America/Rio_Branco', 'America/Noronha', 'UTC'];

/**
 * Checks whether the provider's wall clock runs in the configured zone, by the median distance of paid events from the
 * minutes inside their end-to-end ids, which are UTC. Pure.
 */
export function checkZone(zone: string, payments: ZoneSample[]): ZoneVerdict {
  if (payments.length < PAYMENTS_MIN) return { state: 'unknown' };
  const medianMs = medianOff(zone, payments);
  if (Math.abs(medianMs) < OFF_MS_MIN) return { state: 'fits' };
  const fitting = CANDIDATES.map((name) => ({ name, off: Math.abs(medianOff(name, payments)) }))
    .filter(({ off }) => off < OFF_MS_MIN)
    .sort((a, b) => a.off - b.off);
  return { state: 'differs', medianMs, offsetMs: medianOff('UTC', payments), zone: fitting[0]?.name };
}

function medianOff(zone: string, payments: ZoneSample[]): number {
  const calendar = createCalendar(zone);
  const offs = payments
    .map(({ wall, minute }) => calendar.toInstant(wall).getTime() - minute.getTime())
    .sort((a, b) => a - b);
  const middle = offs.length / 2;
  return ((offs[Math.ceil(middle) - 1] ?? 0) + (offs[Math.floor(middle)] ?? 0)) / 2;
}

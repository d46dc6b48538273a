import { createCalendar, type WallTime } from './calendar.ts';

/** A paid event by the provider's wall clock, and the minute (UTC) inside its end-to-end id. */
export type ZoneSample = { wall: WallTime; minute: Date };
export type ZoneVerdict =
  | { state: 'unknown' }
  | { state: 'fits' }
  /** `zone` is the one that would fit; undefined where none of Brazil's does. `offsetMs`: of the provider's clock to UTC. */
  | { state: 'differs'; medianMs: number; offsetMs: number; zone: string | undefined };

/** Fewer payments than this tell nothing: some ids are malformed, and some payments are told late. */
const PAYMENTS_MIN = 20;
const OFF_MS_MIN = 30 * 60_000;
/** Brazil's, the likeliest first; then the clock that servers keep. */
const CANDIDATES = ['America/Sao_Paulo', 'America/Manaus', 'America/Rio_Branco', 'America/Noronha', 'UTC'];

/**
 * Whether the provider's wall clock is of the zone that it is read by: the median of how far paid events lie from the
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

import type { Random } from '../domain/random.ts';

// How busy each hour of a Brazilian day is, from midnight; people pay at lunch, after work, and up to bed time.
const HOURS = [12, 6, 4, 3, 3, 5, 12, 25, 45, 62, 70, 74, 80, 72, 66, 66, 68, 74, 84, 88, 86, 74, 52, 28];
const TOTAL = HOURS.reduce((sum, weight) => sum + weight, 0);
const NEAR_MIDNIGHT = 0.004;

/** A second of the day, 0 to 86,399, where payments would fall; now and then a breath from midnight. */
export function drawSecond(random: Random): number {
  if (random.chance(NEAR_MIDNIGHT)) return random.chance(0.5) ? random.int(0, 3) : random.int(86_396, 86_399);
  let left = random.next() * TOTAL;
  let hour = 0;
  for (; hour < 23; hour++) {
    left -= HOURS[hour] ?? 0;
    if (left < 0) break;
  }
  return hour * 3_600 + random.int(0, 3_599);
}

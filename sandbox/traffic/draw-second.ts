import type { Random } from '../domain/random.ts';

// weight of each hour of a Brazilian day, from midnight: people pay at lunch, after work and until late evening
const HOURS = [12, 6, 4, 3, 3, 5, 12, 25, 45, 62, 70, 74, 80, 72, 66, 66, 68, 74, 84, 88, 86, 74, 52, 28];
const TOTAL = HOURS.reduce((sum, weight) => sum + weight, 0);
const NEAR_MIDNIGHT = 0.004;

/** Draws the second of a payment in a day, 0 to 86,399; a few are within 4 s of midnight. */
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

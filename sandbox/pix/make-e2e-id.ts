import type { Random } from '../domain/random.ts';

const ALPHANUMERIC = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ISPBS = ['00000000', '00360305', '18236120', '60701190', '90400888', '60746948', '10573521', '22896431'];

/**
 * Makes the end-to-end id of a payment: `E`, the payer bank's eight characters, the minute in UTC, eleven random
 * characters; 32 in all.
 */
export function makeE2eId(random: Random, paidAtMs: number): string {
  const minute = new Date(paidAtMs).toISOString().replace(/[-:T]/g, '').slice(0, 12);
  return `E${random.pick(ISPBS)}${minute}${random.text(ALPHANUMERIC, 11)}`;
}

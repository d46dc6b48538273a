import { isWallTime } from './calendar.ts';

/** `E` for a payment, `D` for a refund; the institution; the minute in UTC; eleven more characters. */
const E2E_ID = /^([ED])[A-Za-z0-9]{8}(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})[A-Za-z0-9]{11}$/;

const OWN_CHARS = 11;

/** Parses an end-to-end id. @returns undefined for a malformed one, which providers do send. */
export function parseE2eId(e2eId: string | null): { of: 'payment' | 'refund'; minute: Date } | undefined {
  const match = E2E_ID.exec(e2eId ?? '');
  if (!match) return undefined;
  const [, letter, year, month, day, hour, minute] = match;
  const wall = `${year}-${month}-${day} ${hour}:${minute}:00`;
  if (!isWallTime(wall)) return undefined;
  return { of: letter === 'D' ? 'refund' : 'payment', minute: new Date(`${wall.replace(' ', 'T')}Z`) };
}

export const E2E_CHARS = 32;
/** A text of about an id's length, with at least the digits of a day. */
const LIKELY = /^[ED](?=.*\d{8})[A-Za-z0-9]{23,40}$/i;

/** Whether a text is likely meant as an end-to-end id, also a mistyped one. */
export function isLikelyE2eId(text: string): boolean {
  return LIKELY.test(text);
}

/** @returns the last eleven characters, which the institution chooses; the whole text if the id is malformed. */
export function extractE2eSuffix(e2eId: string): string {
  return parseE2eId(e2eId) === undefined ? e2eId : e2eId.slice(-OWN_CHARS);
}

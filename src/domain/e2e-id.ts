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
/** Characters by their place in an id. */
const DUE = { kind: /[ED]/, digit: /\d/, any: /[A-Za-z0-9]/ } as const;
const DATE_AT = 9;
const OWN_AT = E2E_CHARS - OWN_CHARS;

/** Finds the first character that cannot stand where it does, counted from 1, and what is due there. */
export function findOddE2eChar(text: string): { at: number; char: string; due: keyof typeof DUE } | undefined {
  for (const [index, char] of [...text].entries()) {
    const due = index === 0 ? 'kind' : index >= DATE_AT && index < OWN_AT ? 'digit' : 'any';
    if (!DUE[due].test(char)) return { at: index + 1, char, due };
  }
  return undefined;
}

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

/** Retry-After in ms: seconds, or an HTTP date. Anything else, and a date that is over, is none. The caller bounds it. */
export function parseRetryAfter(text: string | undefined, now: Date): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text.trim())) return Number(text) * 1000;
  // Date.parse also reads texts that are no HTTP date, such as "-1"
  const at = /[A-Za-z]{3}.*GMT$/.test(text.trim()) ? Date.parse(text) : Number.NaN;
  const ms = at - now.getTime();
  return ms > 0 ? ms : undefined;
}

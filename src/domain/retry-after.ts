/** Parses Retry-After (seconds or an HTTP date) to ms. @returns undefined for anything else or a past date. Not bounded. */
export function parseRetryAfter(text: string | undefined, now: Date): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text.trim())) return Number(text) * 1000;
  // Date.parse also reads texts that are no HTTP date, such as "-1"
  const at = /^[A-Za-z]{3}.{0,40}GMT$/.test(text.trim()) ? Date.parse(text) : Number.NaN;
  const ms = at - now.getTime();
  return ms > 0 ? ms : undefined;
}

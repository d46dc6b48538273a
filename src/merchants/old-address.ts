/** How long the URL before takes the messages that failed before the merchant changed it. */
export const OLD_ADDRESS_MS = 72 * 3_600_000;

/** The URL before, which takes the messages that failed before `until`; undefined once it takes none. */
export function findOldAddress(
  { old_url: url, url_changed_at: until }: { old_url: string | null; url_changed_at: Date | null },
  now: Date,
): { url: string; until: Date } | undefined {
  const isRecent = until !== null && now.getTime() - until.getTime() < OLD_ADDRESS_MS;
  return url !== null && isRecent ? { url, until } : undefined;
}

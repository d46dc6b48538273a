export const BODY_BYTES_MAX = 256 * 1024;
export const DEPTH_MAX = 32;

export type BodyFault = 'empty' | 'not_json' | 'not_an_object' | 'too_deep';
export type CheckedBody = { fault: undefined; value: object } | { fault: BodyFault; value: undefined };

/** Whether a webhook's body is an object or a list that holds something, no deeper than DEPTH_MAX. */
export function checkBody(body: Buffer): CheckedBody {
  if (body.length === 0) return { fault: 'empty', value: undefined };
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return { fault: 'not_json', value: undefined };
  }
  const holds = typeof value === 'object' && value !== null && (!Array.isArray(value) || value.length > 0);
  if (!holds) return { fault: 'not_an_object', value: undefined };
  if (isDeeperThan(value as object, DEPTH_MAX)) return { fault: 'too_deep', value: undefined };
  return { fault: undefined, value: value as object };
}

/** Level by level, not by recursion: a body made of 100,000 brackets must not exhaust the stack. */
function isDeeperThan(root: object, levels: number): boolean {
  let level: unknown[] = [root];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > levels) return true;
    level = level.flatMap((value) =>
      typeof value === 'object' && value !== null
        ? Object.values(value).filter((child) => typeof child === 'object' && child !== null)
        : [],
    );
  }
  return false;
}

import { type Day, isWallTime } from '../../domain/calendar.ts';
import { checkBody } from '../receive/check-body.ts';

/**
 * For each id in a webhook's body, the day of the `date_created` beside it. A claim, and it may be the event's: good
 * for choosing where to look first, and for nothing else.
 */
export function parseClaimedDays(body: Buffer): Map<string, Day> {
  const days = new Map<string, Day>();
  const queue: unknown[] = [checkBody(body).value];
  for (let value = queue.shift(); queue.length > 0 || value !== undefined; value = queue.shift()) {
    if (typeof value !== 'object' || value === null) continue;
    const fields = new Map(Object.entries(value));
    const created = fields.get('date_created');
    for (const id of [fields.get('transaction_id'), fields.get('id')]) {
      if (typeof id === 'string' && typeof created === 'string' && isWallTime(created))
        days.set(id.toLowerCase(), created.slice(0, 10));
    }
    queue.push(...fields.values());
  }
  return days;
}

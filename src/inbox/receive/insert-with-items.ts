import type { Context } from '../../context.ts';
import type { ParameterValue, Statement } from '../../database/open/open-prepared-statements.ts';
import type { Arrival } from './insert-arrivals.ts';
import { itemColumns } from './item-columns.ts';
import type { WebhookItem } from './parse-items.ts';
import { type ArrivalTaker, findTaker, type WrittenArrival } from './take-arrivals.ts';

/** Above, one prepared INSERT of many rows and one split for all of them cost less than two INSERTs for each. */
const ROWS_MAX = 8;
/** A larger body costs more as text than what its split costs. */
const BODY_BYTES_MAX = 16 * 1024;

type Lease = NonNullable<ReturnType<ArrivalTaker['lease']>>;
type Single = { arrival: Arrival; item: WebhookItem };

/**
 * Commits new webhooks with their items, leased by this process, and passes them to its inbox loop: they need no split, and
 * no claim. Only for a few webhooks of one item each, where the loop has free slots.
 * @returns false if these arrivals are not of that kind: nothing was written.
 * @throws Error if the database fails, or takes longer than `msMax`. They may be committed then: their leases run out.
 */
export async function insertWithItems(context: Context, arrivals: Arrival[], msMax: number): Promise<boolean> {
  const taker = findTaker(context);
  const singles = taker && listSingles(arrivals);
  const lease = singles && taker.lease(singles.length);
  if (!lease) return false;
  const commit = commitSingles(context, { singles, taker, lease }, msMax);
  taker.track(commit);
  await commit;
  return true;
}

async function commitSingles(
  context: Context,
  { singles, taker, lease }: { singles: Single[]; taker: ArrivalTaker; lease: Lease },
  msMax: number,
): Promise<void> {
  const statements = singles.flatMap((single) => [insertWebhook(single), insertItem(single, lease)]);
  const results = await context.preparedStatements.transact([...statements, ANYONE_FORGOTTEN], msMax);
  const written = singles.map((single, index): WrittenArrival => {
    // the driver's answers to the two INSERTs of each
    const [webhook, item] = results.slice(2 * index) as { insertId: number }[];
    return { ...single, webhookSeq: webhook?.insertId ?? 0, itemSeq: item?.insertId ?? 0 };
  });
  const [found] = results.at(-1) as { anyone: number }[];
  taker.take(written, found?.anyone === 1);
}

/** A person forgotten after this is redacted by the command itself, or when the item's outcome is recorded. */
const ANYONE_FORGOTTEN: Statement = {
  text: 'SELECT EXISTS (SELECT 1 FROM forgotten_people) AS anyone',
  values: [],
};

/** @returns undefined unless each has one item that can be looked up. */
function listSingles(arrivals: Arrival[]): Single[] | undefined {
  if (arrivals.length > ROWS_MAX) return undefined;
  const singles = arrivals.flatMap((arrival) =>
    arrival.item && arrival.body.length <= BODY_BYTES_MAX ? [{ arrival, item: arrival.item }] : [],
  );
  return singles.length === arrivals.length ? singles : undefined;
}

function insertWebhook({ arrival }: Single): Statement {
  return insert('webhooks', {
    hash: arrival.hash,
    body: arrival.body,
    received_at: arrival.receivedAt,
    source_address: arrival.address,
    headers: JSON.stringify(arrival.headers),
    state: 'pending',
    items: 1,
  });
}

/** Inserts the item of the statement before it. */
function insertItem({ arrival, item }: Single, lease: Lease): Statement {
  const { receivedAt } = arrival;
  const own = { position: 0, received_at: receivedAt, state: 'pending', next_look_at: receivedAt };
  return insert('webhook_items', { ...own, ...itemColumns(item), ...lease }, ['webhook_seq', 'LAST_INSERT_ID()']);
}

function insert(
  table: string,
  row: Record<string, ParameterValue>,
  computed?: [column: string, value: string],
): Statement {
  const columns = Object.keys(row);
  const marks = columns.map(() => '?');
  if (computed) {
    columns.push(computed[0]);
    marks.push(computed[1]);
  }
  return {
    text: `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${marks.join(', ')})`,
    values: Object.values(row),
  };
}

/**
 * Examples of messages, which a merchant asks for: callbacks of the source `test` with the type of another message. What an example
 * repeats is fixed when it is made: its `event_seq` is the row number of that callback, and null where it is invented.
 */
import type { Context } from '../../context.ts';
import { seqsOf } from '../../domain/lists.ts';
import type { MerchantRow } from '../../merchants/read-merchants.ts';
import { TEST_SOURCE } from '../health/callback-sources.ts';
import { inventExample } from './invent-example.ts';
import { MANIFEST_TYPE, type Renderable, type RenderableRow } from './renderable.ts';

/** The newest messages of a merchant among which an example's own one is sought; of manifests the newest of all. */
export const REPEATED_MAX = 1_000;
const COLUMNS = [
  ...(['seq', 'transaction_seq', 'event_seq', 'sequence', 'type', 'previous_status', 'source', 'created_at'] as const),
  'webhook_id',
] as const;

type RenderRows = (rows: RenderableRow[]) => Promise<Map<number, object>>;
/** `repeats`: the webhook-id of the merchant's own message that it repeats; undefined: it is invented. */
export type Example = { body: object; repeats: string | undefined };

/** Renders stored examples. @returns bodies by the callback's row number; none where the message that it repeats is gone. */
export async function renderExamples(
  context: Context,
  examples: Renderable[],
  render: RenderRows,
): Promise<Map<number, object>> {
  const own = examples.filter(({ eventSeq }) => eventSeq !== null);
  const unconfirmed = await readUnconfirmed(context, seqsOf(own));
  const repeated = own.flatMap(({ seq, eventSeq }) => (unconfirmed.has(seq) ? [] : (eventSeq ?? [])));
  const query = context.db.selectFrom('callbacks').select(COLUMNS).where('seq', 'in', repeated);
  const bodies = repeated.length === 0 ? new Map<number, object>() : await render(await query.execute());
  return new Map(
    examples.flatMap((one) => {
      const isInvented = one.eventSeq === null || unconfirmed.has(one.seq);
      const body = isInvented ? invent(context, one.type, one.createdAt) : bodies.get(one.eventSeq ?? 0);
      return body ? [[one.seq, { ...body, test: true }] as const] : [];
    }),
  );
}

/** Reads which examples would go to a test address that nobody confirmed: it gets no payment's data. */
async function readUnconfirmed({ db }: Context, seqs: number[]): Promise<Set<number>> {
  if (seqs.length === 0) return new Set();
  const rows = await db
    .selectFrom('callbacks')
    .innerJoin('merchants', 'merchants.seq', 'merchant_seq')
    .select('callbacks.seq')
    .where('callbacks.seq', 'in', seqs)
    .where('test_url', 'is not', null)
    .where('test_unconfirmed', '=', 1)
    .execute();
  return new Set(seqsOf(rows));
}

/** Returns the example that a merchant would get of a type now, marked `test: true`. */
export async function readExample(
  context: Context,
  merchant: MerchantRow,
  type: string,
  render: RenderRows,
): Promise<Example> {
  const row = sendsInvented(merchant) ? undefined : (await readNewest(context, merchant.seq, [type])).get(type);
  const body = row && (await render([row])).get(row.seq);
  const shown = body ?? invent(context, type, context.clock.now());
  return { body: { ...shown, test: true }, repeats: body && row?.webhook_id };
}

/** Whether its examples are all invented: nobody confirmed its test address. */
export function sendsInvented({ test_url: url, test_unconfirmed: isUnconfirmed }: MerchantRow): boolean {
  return url !== null && isUnconfirmed === 1;
}

/** Reads the merchant's newest message of each type, which an example repeats. @returns by type; none of a type that never came. */
export async function readNewest(
  { db }: Context,
  merchantSeq: number,
  types: readonly string[],
): Promise<Map<string, RenderableRow & { webhook_id: string }>> {
  const newest = db
    .selectFrom('callbacks')
    .select(COLUMNS)
    .where('merchant_seq', '=', merchantSeq)
    .orderBy('created_at', 'desc')
    .orderBy('seq', 'desc')
    .limit(REPEATED_MAX);
  const all = db.selectFrom(newest.as('few')).selectAll();
  // one a day: there may be more of other types since
  const manifest = db
    .selectFrom('callbacks')
    .select(COLUMNS)
    .where('seq', '=', (eb) =>
      eb
        .selectFrom('day_manifests')
        .select(({ fn }) => fn.max('callback_seq').as('seq'))
        .where('merchant_seq', '=', merchantSeq),
    );
  const rows = await db
    .selectFrom((types.includes(MANIFEST_TYPE) ? all.union(manifest) : all).as('newest'))
    .selectAll()
    .where('source', '<>', TEST_SOURCE)
    .where('type', 'in', types)
    .orderBy('created_at')
    .orderBy('seq')
    .execute();
  // the newest last: it replaces the others of its type
  return new Map(rows.map((row) => [row.type, row]));
}

function invent({ calendar }: Context, type: string, at: Date): object {
  return inventExample(type, calendar.toIso(calendar.toWallTime(at)));
}

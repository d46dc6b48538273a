/** Examples of messages, which a merchant asks for: callbacks of the source `test` with the type of another message. */
import type { Context } from '../../context.ts';
import { TEST_SOURCE } from '../health/callback-sources.ts';
import { inventExample } from './invent-example.ts';
import type { Renderable, RenderableRow } from './renderable.ts';

/** The newest messages of a merchant among which an example's own one is sought. */
const NEWEST_MAX = 1_000;

type RenderRows = (rows: RenderableRow[]) => Promise<Map<number, object>>;
export type Example = { body: object; isInvented: boolean };

/** Renders stored examples. @returns bodies by the callback's row number. */
export async function renderExamples(
  context: Context,
  examples: Renderable[],
  render: RenderRows,
): Promise<Map<number, object>> {
  if (examples.length === 0) return new Map();
  const rows = await context.db
    .selectFrom('callbacks')
    .select(['seq', 'merchant_seq'])
    .where(
      'seq',
      'in',
      examples.map(({ seq }) => seq),
    )
    .execute();
  const bodies = new Map<number, object>();
  for (const [merchantSeq, own] of Map.groupBy(rows, (row) => row.merchant_seq)) {
    const seqs = new Set(own.map(({ seq }) => seq));
    const asked = examples.filter(({ seq }) => seqs.has(seq));
    const types = asked.map(({ type }) => type);
    const found = await readExamples(context, merchantSeq, types, render);
    for (const { seq, type } of asked) bodies.set(seq, found.get(type)?.body ?? {});
  }
  return bodies;
}

/**
 * Reads an example of each type, marked `test: true`: the merchant's newest message of the type, as it would be sent now, or an
 * invented one where it has none.
 */
export async function readExamples(
  context: Context,
  merchantSeq: number,
  types: readonly string[],
  render: RenderRows,
): Promise<Map<string, Example>> {
  const newest = context.db
    .selectFrom('callbacks')
    .select(['seq', 'transaction_seq', 'event_seq', 'sequence', 'type', 'previous_status', 'source', 'created_at'])
    .where('merchant_seq', '=', merchantSeq)
    .orderBy('created_at', 'desc')
    .limit(NEWEST_MAX);
  const rows = await context.db
    .selectFrom(newest.as('newest'))
    .selectAll()
    .where('source', '<>', TEST_SOURCE)
    .where('type', 'in', types)
    .orderBy('created_at', 'desc')
    .execute();
  // the newest first: of a type, the first one is taken
  const own = [...Map.groupBy(rows, ({ type }) => type).values()].flatMap(([row]) => row ?? []);
  const bodies = await render(own);
  const at = context.calendar.toIso(context.calendar.toWallTime(context.clock.now()));
  return new Map(
    types.map((type) => {
      const body = bodies.get(own.find((row) => row.type === type)?.seq ?? 0);
      return [type, { body: { ...(body ?? inventExample(type, at)), test: true }, isInvented: body === undefined }];
    }),
  );
}

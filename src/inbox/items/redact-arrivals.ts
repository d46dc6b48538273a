import type { NotNull, Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import { webhookIdOf } from '../../domain/ids.ts';
import { groupValues, seqsOf } from '../../domain/lists.ts';
import { decodeText } from '../../domain/person/decode-text.ts';
import { describeError } from '../../log.ts';
import { redactForgotten } from '../../privacy/redact-forgotten.ts';
import { raiseQuarantine } from './quarantine.ts';

const NOT_REDACTED = 'not_redacted';

/**
 * Redacts forgotten people in webhooks that were received since. A webhook is stored raw before it is answered. Its items
 * hold the keys by the time this is called; its hash stays unchanged, so that repeats are recognised. A body that can't be
 * redacted stays raw, in quarantine; its items continue. Callers ask first whether anyone was forgotten.
 */
export async function redactArrivals(context: Context, trx: Transaction<Database>, seqs: number[]): Promise<void> {
  if (seqs.length === 0) return;
  const rows = await trx
    .selectFrom('webhooks')
    .select(['seq', 'hash', 'body'])
    .where('seq', 'in', [...new Set(seqs)])
    .execute();
  const references = await findReferences(trx, seqs);
  const raws = rows.map((row) => ({ text: decodeText(row.body), aliases: references.get(row.seq) ?? [] }));
  const redacted = await redactForgotten(context.keys, trx, raws);
  const quarantined: { seq: number; reason: string }[] = [];
  for (const [index, { seq, hash }] of rows.entries()) {
    const { text, error } = redacted[index] ?? {};
    if (error !== undefined) {
      const details = { webhook: webhookIdOf(hash), error: describeError(error) };
      context.log.error(details, 'redacting a webhook failed; it is quarantined');
      quarantined.push({ seq, reason: NOT_REDACTED });
    }
    if (text === undefined) continue;
    await trx
      .updateTable('webhooks')
      .set({ body: Buffer.from(text), redacted_at: context.clock.now() })
      .where('seq', '=', seq)
      .execute();
  }
  if (quarantined.length === 0) return;
  await trx
    .updateTable('webhooks')
    .set({ state: 'quarantined', reason: NOT_REDACTED })
    .where('seq', 'in', seqsOf(quarantined))
    .execute();
  await raiseQuarantine(context, trx, quarantined);
}

/** The references by which items name transactions of forgotten people. */
async function findReferences(trx: Transaction<Database>, seqs: number[]): Promise<Map<number, string[]>> {
  const rows = await trx
    .selectFrom('webhook_items')
    .innerJoin('transactions', 'transactions.id', 'webhook_items.resolved_id')
    .innerJoin('parties', 'parties.transaction_seq', 'transactions.seq')
    .select(['webhook_seq', 'webhook_items.reference'])
    .where('webhook_seq', 'in', [...new Set(seqs)])
    .where('parties.forgotten_at', 'is not', null)
    .where('webhook_items.reference', 'is not', null)
    .$narrowType<{ reference: NotNull }>()
    .execute();
  return groupValues(
    rows,
    ({ webhook_seq: seq }) => seq,
    ({ reference }) => reference,
  );
}

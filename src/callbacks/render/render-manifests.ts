import type { Selectable } from 'kysely';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import { proveLeaf } from '../../tlog/prove.ts';

export const MANIFEST_TYPE = 'pix.day.manifest';

type Row = Pick<Selectable<Database['day_manifests']>, 'seq' | 'payload' | 'signatures'>;

type ShownManifest = {
  manifest: Record<string, unknown>;
  payload: string;
  proof?: string | null;
  signatures?: { protected: string; signature: string }[];
};

/**
 * A day manifest as the API and its callback show it: its text, the same as an object, for reading, and the proof that the text is in
 * the log; null while no checkpoint has it. One of version 1 is a JWS in its general form.
 */
export async function presentManifest(context: Context, { seq, payload, signatures }: Row): Promise<ShownManifest> {
  const manifest = JSON.parse(payload) as Record<string, unknown>;
  const shown = { manifest, payload: Buffer.from(payload).toString('base64url') };
  if (manifest.version === 1)
    return { ...shown, signatures: JSON.parse(signatures) as { protected: string; signature: string }[] };
  return { ...shown, proof: (await proveLeaf(context, { kind: 'day', ref: seq })) ?? null };
}

/** Renders the bodies of day manifests. @returns bodies by the callback's row number. */
export async function renderManifests(context: Context, callbackSeqs: number[]): Promise<Map<number, object>> {
  if (callbackSeqs.length === 0) return new Map();
  const rows = await context.db
    .selectFrom('day_manifests')
    .select(['seq', 'callback_seq', 'payload', 'signatures', 'made_at'])
    .where('callback_seq', 'in', callbackSeqs)
    .execute();
  const bodies = new Map<number, object>();
  for (const row of rows) {
    const data = await presentManifest(context, row);
    if (row.callback_seq !== null)
      bodies.set(row.callback_seq, { type: MANIFEST_TYPE, timestamp: row.made_at.toISOString(), data });
  }
  return bodies;
}

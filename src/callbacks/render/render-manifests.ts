import type { Selectable } from 'kysely';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import { proveLeaf } from '../../tlog/prove.ts';
import { MANIFEST_TYPE } from './renderable.ts';

type Row = Pick<Selectable<Database['day_manifests']>, 'seq' | 'payload' | 'signatures'>;

type Signatures = { protected: string; signature: string }[];
type Evidence = { proof?: string | null; signatures?: Signatures };
type ShownManifest = { manifest: Record<string, unknown>; payload: string } & Evidence;

/**
 * A day manifest as the API and its callback show it: its text, the same as an object, for reading, and the proof that the text is in
 * the log; null while no checkpoint has it. One of version 1 is a JWS in its general form.
 */
export async function presentManifest(context: Context, { seq, payload, signatures }: Row): Promise<ShownManifest> {
  const isSigned = (JSON.parse(payload) as { version: number }).version === 1;
  if (isSigned) return showManifest(payload, { signatures: JSON.parse(signatures) as Signatures });
  return showManifest(payload, { proof: (await proveLeaf(context, { kind: 'day', ref: seq })) ?? null });
}

/** The text of a manifest in base64url, the same as an object, and what proves it. Pure. */
export function showManifest(payload: string, evidence: Evidence): ShownManifest {
  const manifest = JSON.parse(payload) as Record<string, unknown>;
  return { manifest, payload: Buffer.from(payload).toString('base64url'), ...evidence };
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

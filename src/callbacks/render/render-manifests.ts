import type { Selectable } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import type { Database } from '../../database/tables.ts';

export const MANIFEST_TYPE = 'pix.day.manifest';

type Row = Pick<Selectable<Database['day_manifests']>, 'payload' | 'signatures'>;

/**
 * A day manifest as the API and its callback show it: a JWS in its general form, with the signed text also as an object, for
 * reading. A verifier reads `payload`.
 */
export function presentManifest({ payload, signatures }: Row) {
  return {
    manifest: JSON.parse(payload) as Record<string, unknown>,
    payload: Buffer.from(payload).toString('base64url'),
    signatures: JSON.parse(signatures) as { protected: string; signature: string }[],
  };
}

/** Renders the bodies of day manifests. @returns bodies by the callback's row number. */
export async function renderManifests(db: Reader, callbackSeqs: number[]): Promise<Map<number, object>> {
  if (callbackSeqs.length === 0) return new Map();
  const rows = await db
    .selectFrom('day_manifests')
    .select(['callback_seq', 'payload', 'signatures', 'made_at'])
    .where('callback_seq', 'in', callbackSeqs)
    .execute();
  return new Map(
    rows.flatMap((row) =>
      row.callback_seq === null
        ? []
        : [
            [
              row.callback_seq,
              { type: MANIFEST_TYPE, timestamp: row.made_at.toISOString(), data: presentManifest(row) },
            ] as const,
          ],
    ),
  );
}

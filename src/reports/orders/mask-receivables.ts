import { maskNameOf, maskPlatform, maskText, type Party } from '../../domain/person/mask-person.ts';
import type { Receivable } from './read-receivables.ts';

/** Masks rows for readers without the right to see people. Documents stay: columns.ts masks them in every file. */
export function maskReceivables(rows: Receivable[]): Receivable[] {
  return rows.map((row) => {
    const party: Party = { name: row.name, document: row.document, email: null, phone: null, pix_key: null };
    const { number, platform } = row;
    return {
      ...row,
      name: maskNameOf(party),
      number: maskText(number, party),
      platform: maskPlatform(platform, party),
    };
  });
}

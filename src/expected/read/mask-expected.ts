import { type Caller, seesPersons } from '../../access/tokens.ts';
import { maskNote } from '../../domain/person/mask-mismatch.ts';
import {
  maskDocument,
  maskE2eId,
  maskNameOf,
  maskPlatform,
  maskText,
  type Party,
} from '../../domain/person/mask-person.ts';
import type { ExpectedFilters } from './filter-expected.ts';
import type { PresentedExpected } from './list-expected.ts';

/** The orders that a caller sees beside one. `mask`: their numbers may name a person. */
export type OrderScope = Pick<ExpectedFilters, 'sources' | 'merchantSeq'> & { mask: boolean };

export function scopeOf(caller: Caller): OrderScope {
  return { sources: caller.sources, merchantSeq: caller.merchantSeq, mask: !seesPersons(caller) };
}

/** An expected payment for roles that don't see personal data. */
export function maskExpected(expected: PresentedExpected): PresentedExpected {
  const { name, document, extra, description, number, references } = expected;
  const party: Party = { name, document, email: null, phone: null, pix_key: null };
  return {
    ...expected,
    ...{ name: maskNameOf(party), document: maskDocument(document), platform: maskPlatform(expected.platform, party) },
    ...{ extra: maskText(extra, party), description: maskText(description, party), number: maskText(number, party) },
    references: references.map((one) => maskText(one, party)),
    e2e_ids: expected.e2e_ids.map((one) => maskE2eId(one, party)),
    matches: expected.matches.map((one) => ({ ...one, note: maskNote(one.note) })),
  };
}

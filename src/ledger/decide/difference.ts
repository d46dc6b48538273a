import type { MismatchKind } from '../../domain/mismatch.ts';

/** `outdated`: the evidence is older than an observation that is already stored. */
export type Difference = { kind: MismatchKind; expected: unknown; actual: unknown; outdated?: boolean };

import type { MismatchKind } from '../../domain/mismatch.ts';

/** `outdated`: a newer look than the one that shows it is known. */
export type Difference = { kind: MismatchKind; expected: unknown; actual: unknown; outdated?: boolean };

/** The kinds of mismatch and their default severities (`stuck` is critical for a cashout). */
export const MISMATCH_SEVERITY = {
  webhook_lost: 'medium',
  webhook_contradiction: 'critical',
  status_differs: 'critical',
  illegal_transition: 'high',
  amount_differs: 'critical',
  commission_differs: 'medium',
  commission_not_agreed: 'medium',
  reference_differs: 'high',
  duplicate_reference: 'critical',
  missing_at_provider: 'critical',
  list_omission: 'medium',
  list_unstable: 'high',
  stuck: 'medium',
  row_refused: 'high',
  field_unreadable: 'medium',
  unknown_status: 'high',
  webhook_quarantined: 'high',
  e2e_date_differs: 'medium',
  closed_day_changed: 'high',
  balance_differs: 'critical',
  amount_not_expected: 'high',
  paid_twice: 'high',
  paid_after_cancel: 'high',
  receipt_unidentified: 'medium',
  books_broken: 'critical',
} as const;

export type MismatchKind = keyof typeof MISMATCH_SEVERITY;
export const MISMATCH_KINDS = Object.keys(MISMATCH_SEVERITY) as [MismatchKind, ...MismatchKind[]];

/** Kinds whose scope is an expected payment. */
export const OF_EXPECTED_PAYMENTS = [
  'amount_not_expected',
  'paid_twice',
  'paid_after_cancel',
] as const satisfies MismatchKind[];

/** Kinds about fees: they keep no month open, and its close names them. */
export const OF_FEES = ['commission_not_agreed', 'commission_differs'] as const satisfies MismatchKind[];

/** Whether the scope of a kind is an expected payment. */
export function isOfExpectedPayment(kind: string): boolean {
  return (OF_EXPECTED_PAYMENTS as readonly string[]).includes(kind);
}

/** The kind that names a mismatch: earlier versions raised `commission_differs` where a payment's charge is not the contract's. Pure. */
export function nameKind({ kind, expected }: { kind: string; expected?: unknown }): string {
  const isOfContract = typeof expected === 'object' && expected !== null && 'contract' in expected;
  return kind === 'commission_differs' && isOfContract ? 'commission_not_agreed' : kind;
}

export function isMismatchKind(text: string): text is MismatchKind {
  return Object.hasOwn(MISMATCH_SEVERITY, text);
}

/** The severities, the most severe first. */
export const SEVERITIES = ['critical', 'high', 'medium'] as const;
export type Severity = (typeof SEVERITIES)[number];
/** Sorts by severity: 0 is the most severe. */
export function rankSeverity(severity: string): number {
  return (SEVERITIES as readonly string[]).indexOf(severity);
}
export const MISMATCH_STATES = ['open', 'acknowledged', 'resolved'] as const;
export const UNRESOLVED_STATES: string[] = ['open', 'acknowledged'];
/** The `mismatch_seq` of a correction by an observation: no person accepted a mismatch. */
export const NO_MISMATCH = 0;

/** A difference that was found, before it is stored. Personal fields and extra are in it only as hashes. */
export type FoundMismatch = {
  kind: MismatchKind;
  severity?: Severity;
  /** Unique with the kind among open mismatches: a transaction's id, a day, a webhook's id … */
  scope: string;
  transactionSeq?: number;
  transactionId?: string;
  reference?: string | null;
  amountCents?: bigint;
  expected?: unknown;
  actual?: unknown;
  runSeq?: number;
  webhookSeq?: number;
  baseline?: boolean;
  /** Newer evidence is known: it opens a mismatch, but does not change an open one. */
  outdated?: boolean;
  /** Another mismatch of the same cause: while its alert fires, this one joins it. */
  joins?: { kind: MismatchKind; scope: string };
  /** Set if the mismatch is resolved as soon as it is raised. */
  resolution?: string;
};

import type { AccessTables } from './tables/access.ts';
import type { BankTables } from './tables/bank.ts';
import type { CallbackTables } from './tables/callbacks.ts';
import type { ExpectedTables } from './tables/expected.ts';
import type { InboxTables } from './tables/inbox.ts';
import type { LedgerTables } from './tables/ledger.ts';
import type { LogTables } from './tables/log.ts';
import type { ManifestTables } from './tables/manifests.ts';
import type { MismatchTables } from './tables/mismatches.ts';
import type { ReconciliationTables } from './tables/reconciliation.ts';
import type { ReportTables } from './tables/reports.ts';
import type { SealTables } from './tables/seal.ts';

/**
 * The tables of `migrations/`. BIGINT columns named `…_cents` are bigint, DATETIME are Dates in UTC, `…_wall` and DATE are
 * text of the provider's calendar, VARBINARY is text compared byte for byte.
 */
export type Database = AccessTables &
  BankTables &
  CallbackTables &
  ExpectedTables &
  InboxTables &
  LedgerTables &
  LogTables &
  ManifestTables &
  MismatchTables &
  ReconciliationTables &
  ReportTables &
  SealTables;

import type { ColumnType, Generated, GeneratedAlways } from 'kysely';

/**
 * The tables of `migrations/`, one type each. BIGINT columns named `…_cents` are bigint, DATETIME are Dates in UTC,
 * `…_wall` and DATE are text of the provider's calendar, VARBINARY is text compared byte for byte.
 */
export type Database = {
  settings: SettingsTable;
  tokens: TokensTable;
  sessions: SessionsTable;
  audit: AuditTable;
  job_ticks: JobTicksTable;
  merchants: MerchantsTable;
  merchant_secrets: MerchantSecretsTable;
  callbacks: CallbacksTable;
  callback_attempts: CallbackAttemptsTable;
  webhooks: WebhooksTable;
  webhook_repeats: WebhookRepeatsTable;
  webhook_items: WebhookItemsTable;
  senders: SendersTable;
  receiver_minutes: ReceiverMinutesTable;
  spools: SpoolsTable;
  transactions: TransactionsTable;
  parties: PartiesTable;
  forgotten_people: ForgottenPeopleTable;
  events: EventsTable;
  accounts: AccountsTable;
  entries: EntriesTable;
  postings: PostingsTable;
  openings: OpeningsTable;
  refused_rows: RefusedRowsTable;
  owed_webhooks: OwedWebhooksTable;
  mismatches: MismatchesTable;
  mismatch_changes: MismatchChangesTable;
  fact_changes: FactChangesTable;
  alerts: AlertsTable;
  alert_sends: AlertSendsTable;
  runs: RunsTable;
  run_windows: RunWindowsTable;
  accepted_surpluses: AcceptedSurplusesTable;
  run_pages: RunPagesTable;
  run_page_rows: RunPageRowsTable;
  run_days: RunDaysTable;
  provider_budget: ProviderBudgetTable;
  open_looks: OpenLooksTable;
  adjustments: AdjustmentsTable;
  statements: StatementsTable;
  reports: ReportsTable;
  report_mails: ReportMailsTable;
  corrections: CorrectionsTable;
  event_standings: EventStandingsTable;
  doubted_events: DoubtedEventsTable;
  doubted_statuses: DoubtedStatusesTable;
  event_places: EventPlacesTable;
  histories_to_mend: HistoriesToMendTable;
  commission_contracts: CommissionContractsTable;
  mismatch_causes: MismatchCausesTable;
  seals: SealsTable;
  seal_stragglers: SealStragglersTable;
  sealing: SealingTable;
  balance_spans: BalanceSpansTable;
};

type Optional<T> = ColumnType<T | null, T | null | undefined, T | null>;

type SettingsTable = {
  name: string;
  value: Buffer;
};

type TokensTable = {
  seq: Generated<number>;
  id: string;
  name: string;
  role: string;
  token_hash: Buffer;
  created_at: Date;
  revoked_at: Optional<Date>;
  expires_at: Optional<Date>;
  last_used_at: Optional<Date>;
};

type SessionsTable = {
  session_hash: Buffer;
  token_seq: Optional<number>;
  created_at: Date;
  expires_at: Date;
  opened_with: Optional<Buffer>;
};

type AuditTable = {
  seq: Generated<number>;
  at: Date;
  actor: string;
  action: string;
  target: string;
  detail: Optional<string>;
  id: Optional<string>;
};

type JobTicksTable = {
  job: string;
  due_at: Date;
  holder: string;
  lease_until: Date;
  tries: Generated<number>;
  finished_at: Optional<Date>;
  error: Optional<string>;
};

type MerchantsTable = {
  seq: Generated<number>;
  id: string;
  name: string;
  url: string;
  email: Optional<string>;
  state: Generated<string>;
  disabled_reason: Optional<string>;
  filter: string;
  rate: Optional<number>;
  rate_next_at: Optional<Date>;
  events_since: Date;
  failures: Generated<number>;
  failing_since: Optional<Date>;
  breaker_opened_at: Optional<Date>;
  probe_at: Optional<Date>;
  warned_at: Optional<Date>;
  recovered_at: Optional<Date>;
  last_position: Generated<number>;
  pull_token_hash: Optional<Buffer>;
  created_at: Date;
  deleted_at: Optional<Date>;
};

type MerchantSecretsTable = {
  seq: Generated<number>;
  merchant_seq: number;
  ciphertext: Buffer;
  key_id: Optional<string>;
  created_at: Date;
  expires_at: Optional<Date>;
};

type CallbacksTable = {
  seq: Generated<number>;
  webhook_id: string;
  merchant_seq: number;
  transaction_seq: Optional<number>;
  event_seq: Optional<number>;
  sequence: Generated<number>;
  type: string;
  previous_status: Optional<string>;
  source: string;
  state: string;
  attempts: Generated<number>;
  step: Generated<number>;
  first_failed_at: Optional<Date>;
  next_attempt_at: Optional<Date>;
  lease_holder: Optional<string>;
  lease_until: Optional<Date>;
  position: Optional<number>;
  created_at: Date;
  delivered_at: Optional<Date>;
};

type CallbackAttemptsTable = {
  seq: Generated<number>;
  callback_seq: number;
  number: number;
  started_at: Date;
  duration_ms: number;
  response_status: Optional<number>;
  error_class: Optional<string>;
  response_body: Optional<Buffer>;
  request_headers: string;
};

type WebhooksTable = {
  seq: Generated<number>;
  hash: Buffer;
  body: Buffer;
  received_at: Date;
  source_address: string;
  headers: string;
  state: string;
  reason: Optional<string>;
  items: Generated<number>;
  repeats: Generated<number>;
  redacted_at: Optional<Date>;
  dropped_at: Optional<Date>;
  body_bytes: GeneratedAlways<number>;
};

type WebhookRepeatsTable = {
  seq: Generated<number>;
  webhook_seq: number;
  received_at: Date;
  source_address: string;
};

type WebhookItemsTable = {
  seq: Generated<number>;
  webhook_seq: number;
  position: number;
  received_at: Date;
  transaction_id: Optional<string>;
  reference: Optional<string>;
  extra_hash: Optional<Buffer>;
  claimed_status: Optional<string>;
  claimed_amount_cents: Optional<bigint>;
  resolved_id: Optional<string>;
  state: string;
  reason: Optional<string>;
  looks: Generated<number>;
  looked_at: Optional<Date>;
  next_look_at: Optional<Date>;
  contradicted: Generated<number>;
  lease_holder: Optional<string>;
  lease_until: Optional<Date>;
  misses: Generated<number>;
  granted: Generated<number>;
};

type SendersTable = {
  address: string;
  hit_at: Optional<Date>;
  hour_at: Date;
  shows: Generated<number>;
  garbage_bytes: Generated<number>;
};

type ReceiverMinutesTable = {
  minute: Date;
  last_arrival_at: Optional<Date>;
};

type SpoolsTable = {
  name: string;
  seen_at: Date;
  since: Date;
  is_waiting: number;
};

type TransactionsTable = {
  seq: Generated<number>;
  id: string;
  operation: string;
  status: string;
  status_wall: string;
  sequence: number;
  event_count: number;
  amount_cents: bigint;
  commission_cents: Optional<bigint>;
  reference: Optional<string>;
  extra: Optional<string>;
  extra_hash: Optional<Buffer>;
  platform: Optional<string>;
  e2e_id: Optional<string>;
  created_wall: string;
  digest: Buffer;
  asked_at: Date;
  ordered_at: Optional<Date>;
  reordered: Generated<number>;
  first_seen_at: Date;
};

type PartiesTable = {
  transaction_seq: number;
  name: Optional<string>;
  email: Optional<string>;
  phone: Optional<string>;
  document: Optional<string>;
  pix_key: Optional<string>;
  description: Optional<string>;
  document_hash: Optional<Buffer>;
  /** Read by nothing but its index; cut off in the middle of a character it is no text. */
  name_folded: Optional<Buffer>;
  created_wall: Optional<string>;
  forgotten_at: Optional<Date>;
};

type ForgottenPeopleTable = {
  document_hash: Buffer;
  forgotten_at: Date;
  finished_at: Optional<Date>;
  sealed_values: Optional<Buffer>;
};

type EventsTable = {
  seq: Generated<number>;
  transaction_seq: number;
  status: string;
  at_wall: string;
  occurrence: number;
  position: number;
  sequence: number;
  inferred: number;
  seen_at: Date;
  source_kind: string;
  source_webhook_seq: Optional<number>;
  source_run_seq: Optional<number>;
  source_page: Optional<number>;
};

type AccountsTable = {
  seq: Generated<number>;
  name: string;
};

type EntriesTable = {
  seq: Generated<number>;
  kind: string;
  transaction_seq: Optional<number>;
  event_seq: Optional<number>;
  reverses_seq: Optional<number>;
  platform: string;
  at_wall: string;
  recorded_at: Date;
  source_kind: string;
  source_webhook_seq: Optional<number>;
  source_run_seq: Optional<number>;
  source_page: Optional<number>;
};

type PostingsTable = {
  entry_seq: number;
  position: number;
  account_seq: number;
  at_wall: string;
  amount_cents: bigint;
};

type OpeningsTable = {
  seq: Generated<number>;
  id: string;
  platform: string;
  day: string;
  balance_cents: bigint;
  entry_seq: number;
  in_force: Optional<number>;
  reposted_at: Optional<Date>;
  created_at: Date;
  actor: string;
};

type RefusedRowsTable = {
  seq: Generated<number>;
  transaction_id: Optional<string>;
  raw: Buffer;
  hash: Buffer;
  reason: string;
  run_seq: Optional<number>;
  page: Optional<number>;
  seen_at: Date;
};

type OwedWebhooksTable = {
  event_seq: number;
  transaction_seq: number;
  event_at: Date;
  due_at: Date;
  run_seq: Optional<number>;
  settled_at: Optional<Date>;
  announced_at: Optional<Date>;
};

type MismatchesTable = {
  seq: Generated<number>;
  id: string;
  kind: string;
  severity: string;
  state: string;
  scope: string;
  open_scope: Optional<string>;
  kept_scope: Optional<string>;
  transaction_seq: Optional<number>;
  transaction_id: Optional<string>;
  reference: Optional<string>;
  amount_cents: Optional<bigint>;
  expected: Optional<string>;
  actual: Optional<string>;
  run_seq: Optional<number>;
  webhook_seq: Optional<number>;
  opened_at: Date;
  acknowledged_at: Optional<Date>;
  resolved_at: Optional<Date>;
  resolution: Optional<string>;
  note: Optional<string>;
  reopened: Generated<number>;
  baseline: Generated<number>;
};

type MismatchChangesTable = {
  seq: Generated<number>;
  mismatch_seq: number;
  at: Date;
  state: string;
  resolution: Optional<string>;
  note: Optional<string>;
  actor: string;
  opened_at: Optional<Date>;
  expected: Optional<string>;
  actual: Optional<string>;
  amount_cents: Optional<bigint>;
  run_seq: Optional<number>;
};

type FactChangesTable = {
  seq: Generated<number>;
  transaction_seq: number;
  name: string;
  before_value: Optional<string>;
  at: Date;
  source_kind: Optional<string>;
  source_webhook_seq: Optional<number>;
  source_run_seq: Optional<number>;
  source_page: Optional<number>;
};

type AlertsTable = {
  seq: Generated<number>;
  id: string;
  name: string;
  severity: string;
  scope: string;
  firing_scope: Optional<string>;
  summary: string;
  mismatch_id: Optional<string>;
  transaction_id: Optional<string>;
  raised_at: Date;
  ended_at: Optional<Date>;
  spread_at: Optional<Date>;
};

type AlertSendsTable = {
  alert_seq: number;
  channel: string;
  attempts: Generated<number>;
  next_attempt_at: Optional<Date>;
  sent_at: Optional<Date>;
  end_sent_at: Optional<Date>;
  error: Optional<string>;
  lease_until: Optional<Date>;
};

type RunsTable = {
  seq: Generated<number>;
  id: string;
  trigger: string;
  state: string;
  from_day: string;
  to_day: string;
  platform: Optional<string>;
  pages: Generated<number>;
  passes: Generated<number>;
  total: Optional<number>;
  seen: Generated<number>;
  applied: Generated<number>;
  created_at: Date;
  created_by: string;
  started_at: Optional<Date>;
  finished_at: Optional<Date>;
  error: Optional<string>;
  lease_holder: Optional<string>;
  lease_until: Optional<Date>;
  how: Generated<string>;
  requests: Generated<number>;
  days_counted: Generated<number>;
  not_before: Optional<Date>;
};

type RunWindowsTable = {
  seq: Generated<number>;
  run_seq: number;
  from_day: string;
  to_day: string;
  platform: Optional<string>;
  state: string;
  pages: Generated<number>;
  passes: Generated<number>;
  total: Optional<number>;
  seen: Generated<number>;
  applied: Generated<number>;
  asked_at: Optional<Date>;
  error: Optional<string>;
  surplus: Generated<number>;
};

type AcceptedSurplusesTable = {
  seq: Generated<number>;
  day: string;
  platform: string | null;
  surplus: number;
  mismatch_seq: number;
  actor: string;
  created_at: Date;
};

type RunPagesTable = {
  seq: Generated<number>;
  run_seq: number;
  window_seq: number;
  pass: number;
  page: number;
  total: number;
  row_count: number;
  body_hash: Buffer;
  ids_digest: Buffer;
  asked_at: Date;
  status: Optional<string>;
};

type RunPageRowsTable = {
  window_seq: number;
  pass: number;
  page: number;
  place: number;
  query: string;
  total: number;
  last_page: number;
  asked_at: Date;
  page_rows: ColumnType<Buffer, string, string>;
};

type RunDaysTable = {
  day: string;
  run_seq: number;
  holder: string;
};

type ProviderBudgetTable = {
  name: string;
  tokens: number;
  filled_at: Date;
};

type OpenLooksTable = {
  transaction_seq: number;
  next_look_at: Date;
};

type ReportsTable = {
  seq: Generated<number>;
  day: string;
  revision: number;
  state: string;
  made_at: Date;
  proven: number;
  proven_run_seq: Optional<number>;
  proven_asked_at: Optional<Date>;
  digest: Buffer;
  sha256: Buffer;
  files: string;
  cut_entry_seq: number;
  cut_event_seq: number;
  cut_mismatch_change_seq: number;
  cut_seal_position: Optional<number>;
  cut_seal_hash: Optional<Buffer>;
  cut_fact_change_seq: Generated<number>;
  checked_entry_seq: number;
  checked_event_seq: number;
  checked_fact_change_seq: Generated<number>;
  cut_event_window: Optional<Buffer>;
  checked_event_count: Optional<number>;
  locale: string;
  full_documents: number;
  version: string;
  redacted_at: Optional<Date>;
};

type ReportMailsTable = {
  report_seq: number;
  created_at: Date;
  attempts: Generated<number>;
  next_attempt_at: Optional<Date>;
  sent_at: Optional<Date>;
  error: Optional<string>;
};

type AdjustmentsTable = {
  seq: Generated<number>;
  id: string;
  platform: string;
  day: string;
  kind: string;
  amount_cents: bigint;
  note: string;
  entry_seq: number;
  reverses_seq: Optional<number>;
  opening_seq: Optional<number>;
  created_at: Date;
  actor: string;
};

type StatementsTable = {
  seq: Generated<number>;
  id: string;
  platform: string;
  at: Date;
  at_wall: string;
  balance_cents: bigint;
  compared_at: Optional<Date>;
  created_at: Date;
  actor: string;
};

type CorrectionsTable = {
  seq: Generated<number>;
  transaction_seq: number;
  mismatch_seq: number;
  sequence: number;
  before_facts: string;
  after_facts: string;
  created_at: Date;
  actor: string;
};

type EventStandingsTable = {
  seq: Generated<number>;
  transaction_seq: number;
  event_seq: number;
  in_force: number;
  correction_seq: number;
};

type DoubtedEventsTable = {
  event_seq: number;
  transaction_seq: number;
  transaction_id: string;
  noticed_at: Date;
  shown_without_at: Optional<Date>;
  told: Generated<number>;
  due_at: Optional<Date>;
};

type DoubtedStatusesTable = {
  transaction_seq: number;
  transaction_id: string;
  noticed_at: Date;
  shown_without_at: Optional<Date>;
  told: Generated<number>;
  due_at: Optional<Date>;
};

type EventPlacesTable = {
  seq: Generated<number>;
  transaction_seq: number;
  event_seq: number;
  position: number;
  fact_change_seq: number;
};

type HistoriesToMendTable = {
  transaction_seq: number;
  reason: string;
  mended_at: Optional<Date>;
  outcome: Optional<string>;
};

type CommissionContractsTable = {
  seq: Generated<number>;
  id: string;
  platform: Optional<string>;
  operation: string;
  fixed_cents: bigint;
  basis_points: number;
  from_day: string;
  to_day: Optional<string>;
  created_at: Date;
  actor: string;
  withdrawn_at: Optional<Date>;
};

type MismatchCausesTable = {
  mismatch_seq: number;
  alert_name: string;
  alert_scope: string;
};

type SealsTable = {
  position: number;
  entry_seq: number;
  event_seq: number;
  mismatch_change_seq: number;
  members: string;
  entries: number;
  stragglers: number;
  previous_hash: Buffer;
  hash: Buffer;
  sealed_at: Date;
  audit_seq: Optional<number>;
  audit_members: Optional<string>;
};

type SealStragglersTable = {
  entry_seq: number;
  position: number;
};

type SealingTable = {
  id: number;
  holder: Optional<string>;
  lease_until: Optional<Date>;
};

type BalanceSpansTable = {
  grain: string;
  span: string;
  account_seq: number;
  amount_cents: bigint;
};

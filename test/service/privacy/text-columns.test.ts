/** Each column that can hold a text of a person, against what `confere forget` searches: a new column belongs to one of the lists. */
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { openTestContext } from '../../support/open-environment.ts';

/** A name, a document or an e-mail fits. */
const TEXT_CHARS_MIN = 65;

/** Columns in which forget.test.ts plants a person and finds none afterwards (src/commands/forget/list-erasure-targets.ts). */
const ERASED = [
  'adjustments.note alerts.facts alerts.summary bank_accounts.csv bank_accounts.not_pix bank_match_notes.note callback_attempts.response_body',
  'bank_line_texts.fitid bank_line_texts.memo bank_line_texts.name',
  'corrections.after_facts corrections.before_facts fact_changes.before_value refused_rows.raw',
  'expected_notes.note expected_texts.description expected_texts.extra expected_texts.name expected_texts.name_folded',
  'idempotency_results.sealed merchants.email merchants.filter merchants.name merchants.old_url merchants.own_filter merchants.test_url merchants.url',
  'merchant_address_changes.old_value merchant_address_changes.value',
  'mismatches.actual mismatches.expected mismatches.note mismatch_changes.actual mismatch_changes.expected mismatch_changes.note',
  'month_closes.note parties.description parties.document parties.email parties.name parties.name_folded parties.phone parties.pix_key',
  'transactions.extra users.name users.subject webhooks.body',
];

/** Texts that hold nothing of a payer, each group with its reason. */
const OTHERS: { why: string; columns: string[] }[] = [
  {
    why: 'codes, scopes and kinds of our own',
    columns: [
      'alerts.firing_scope alerts.scope audit.target bank_lines.type callbacks.type mismatch_causes.alert_scope',
      'mismatches.kept_scope mismatches.open_scope mismatches.scope migrations.name run_page_rows.query',
      'transactions.commission_evidence merchants.disabled_reason',
    ],
  },
  {
    why: 'our own texts and figures about rows, without the values in them',
    columns: [
      'alert_sends.error job_ticks.error refused_rows.reason runs.error runs.error_says run_windows.error run_windows.error_says',
      'account_maps.accounts audit.detail books_checks.state heartbeats.facts month_closes.balances month_closes.days',
      'month_closes.cut_event_window month_closes.cut_orders reports.cut_event_window reports.cut_orders reports.figures reports.files',
      'list_heads.head_rows run_page_rows.page_rows seals.audit_members seals.members',
      'day_manifests.payload day_manifests.signatures callback_attempts.request_headers webhooks.headers',
    ],
  },
  {
    why: 'keys and what is sealed by them; people who are forgotten are sealed in their tombstone until it is done',
    columns: ['forgotten_people.sealed_values manifest_keys.ciphertext merchant_secrets.ciphertext settings.value'],
  },
  {
    why: 'the installation: its accounts, machines, people who administer it, the issuer of their logins, its log and witnesses',
    columns: [
      'log_checkpoints.note log_cosignatures.line log_cosignatures.witness log_origins.origin log_witnesses.name log_witnesses.refused',
      'accounts.name adjustments.bank_account bank_accounts.account bank_lines.account bank_statements.account bank_statements.spelled heartbeats.host size_days.host',
      'tokens.name tokens.sources users.issuer',
    ],
  },
  {
    why: 'ids of a payment, which the books need; a viewer sees them masked where they hold a document',
    columns: [
      'expected_keys.value expected_payments.number mismatches.reference transactions.e2e_id transactions.reference',
      'webhook_items.reference',
    ],
  },
];

test('each text column is erased by forget, or named here with the reason why it holds nothing of a person', async () => {
  await using context = await openTestContext();
  const { rows } = await sql<{ name: string }>`SELECT CONCAT(table_name, '.', column_name) AS name
    FROM information_schema.columns WHERE table_schema = DATABASE() AND character_maximum_length >= ${TEXT_CHARS_MIN}`.execute(
    context.db,
  );
  const named = [...ERASED, ...OTHERS.flatMap(({ columns }) => columns)].flatMap((line) => line.split(' '));
  expect(rows.map(({ name }) => name).toSorted()).toEqual(named.toSorted());
});

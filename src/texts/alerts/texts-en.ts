import type { AlertText } from './alert-facts.ts';
import type { AlertKind } from './alert-kinds.ts';

export const EN_WORDS = {
  severities: { critical: 'critical', high: 'high', medium: 'medium' } as Record<string, string>,
  over: 'over',
  since: 'since',
  until: 'until',
  open: 'open',
  runbook: 'what to do',
  alerts: (count: number) => `${count} alerts`,
  areOver: (count: number) => `${count} alerts are over`,
};

export const EN_TEXTS: Record<AlertKind, AlertText> = {
  webhook_lost: {
    title: 'Webhook lost',
    todo: 'The ledger and the merchants have the change: there is nothing to correct.',
  },
  webhook_contradiction: {
    title: 'Webhook contradicts the provider',
    todo: 'Do not act on the webhook: check its source address, and rotate the secret if it is not the provider’s.',
  },
  status_differs: {
    title: 'The provider contradicts the history',
    todo: 'Ask the provider why an event is gone, then accept its version or keep ours.',
  },
  illegal_transition: {
    title: 'Impossible transition',
    todo: 'It is posted as shown: confirm the final status with the provider and resolve with its answer.',
  },
  amount_differs: {
    title: 'Amount changed',
    todo: 'The ledger keeps the first amount: compare it with the receipt, then keep it or accept the new one.',
  },
  commission_differs: {
    title: 'Commission changed',
    todo: 'The ledger keeps the first one: compare it with the provider’s invoice, then keep it or accept the new one.',
  },
  commission_not_agreed: {
    title: 'Commissions are not the contract’s',
    todo: 'Open Balances, Commissions: claim the difference from the provider, or state the contract that applies.',
  },
  reference_differs: {
    title: 'Reference changed',
    todo: 'The ledger keeps the first one: find out who changed it, since merchants find their orders by it.',
  },
  duplicate_reference: {
    title: 'Repeated reference',
    todo: 'Ask the merchant whether the order was charged twice, and cancel or refund one of the two.',
  },
  missing_at_provider: {
    title: 'Missing at the provider',
    todo: 'Ask the provider about the id: our ledger has the money, and the provider does not know it.',
  },
  list_omission: {
    title: 'Left out of the list',
    todo: 'Wait for the next complete reconciliation, and inform the provider if it stays.',
  },
  list_unstable: {
    title: 'Day not proven',
    todo: 'Start a reconciliation of that day at a quiet hour: without a proof, nothing is known about absences.',
  },
  stuck: { title: 'Stuck', todo: 'Check a payment at the provider before you pay it again.' },
  row_refused: { title: 'Unreadable row', todo: 'It is stored and not posted: ask the provider to correct it.' },
  field_unreadable: {
    title: 'Unreadable field',
    todo: 'The transaction is posted without it (an `extra` that is no text: as its JSON): ask the provider to correct it.',
  },
  unknown_status: { title: 'Unknown status', todo: 'Nothing is posted for it: ask the provider what it means.' },
  webhook_quarantined: {
    title: 'Webhook in quarantine',
    todo: 'An operator sees the reason, removes the cause, and reprocesses the webhook.',
  },
  e2e_date_differs: {
    title: 'E2E date far off',
    todo: 'Check on the receipt whether the E2E id is this payment’s.',
  },
  closed_day_changed: {
    title: 'A reported day changed',
    todo: 'Make the next revision of that day’s report; unless a stated entry or opening changed it, accounting has to know.',
  },
  balance_differs: {
    title: 'Balance differs',
    todo: 'Find what the list does not show (fee, block, withdrawal) and enter it as an adjustment.',
  },
  amount_not_expected: {
    title: 'Amount not expected',
    todo: 'Compare what was paid with the order: charge or return the difference, or correct the order.',
  },
  paid_twice: {
    title: 'Order paid more than once',
    todo: 'Return what is too much, unless the customer meant all of it.',
  },
  paid_after_cancel: {
    title: 'Cancelled order paid',
    todo: 'Return the payment, or reopen the order and deliver.',
  },
  receipt_unidentified: {
    title: 'Receipt of no order',
    todo: 'Match it with its order, or enter the order; return what is nobody’s.',
  },
  books_broken: {
    title: 'Books broken',
    todo: 'Stop closing months and run confere doctor --books: it says where.',
  },
  address_change_waits: {
    title: 'A change of address waits for an admin',
    todo: 'Ask the merchant by other means, then confirm or refuse it on its page.',
  },
  baseline_mismatches: { title: 'Mismatches of the baseline', todo: 'Review them once and resolve what is explained.' },
  callback_failed: {
    title: 'Callbacks failed for good',
    todo: 'Call the merchant, then send the failed callbacks again.',
  },
  callbacks_behind: {
    title: 'Callbacks are late',
    todo: 'See the log of the workers, and start another one if there is only too much to do.',
  },
  clock_differs: { title: 'A clock is wrong', todo: 'Set the clocks of that machine and of the database by NTP.' },
  database_read_only: {
    title: 'The database takes no writes',
    todo: 'Make it writable again, or move to the primary: until then nothing is verified, posted or delivered.',
  },
  disk_full: { title: 'Disk nearly full', todo: 'Free space: a full disk stops the database and the receiver.' },
  expected_behind: {
    title: 'Orders are decided late',
    todo: 'See the log of the workers for failures of the loop expected.',
  },
  inbound_silence: {
    title: 'No webhooks arrive',
    todo: 'Check the receiver, the proxy and the address that the provider posts to.',
  },
  inbox_behind: {
    title: 'Verification is late',
    todo: 'See the log of the workers, and whether the provider is slow.',
  },
  job_failed: { title: 'Job failed', todo: 'See the error with confere jobs, remove the cause, run the job again.' },
  job_overdue: { title: 'Job overdue', todo: 'See with confere jobs whether it did not start or runs too long.' },
  merchant_disabled: {
    title: 'Merchant disabled',
    todo: 'Call the merchant, then enable it: what is held will be delivered.',
  },
  merchant_failing: {
    title: 'Merchant fails',
    todo: 'Call the merchant: its callbacks wait for its address.',
  },
  no_complete_run: {
    title: 'Today is not read completely',
    todo: 'See the error of the newest reconciliations: without them, nobody knows what no webhook announced.',
  },
  opening_to_come: {
    title: 'Opening balance in the future',
    todo: 'Reverse the opening balance and state it again with the intended day.',
  },
  provider_failing: {
    title: 'The provider fails',
    todo: 'See its status page and call it: webhooks are received and are verified once it answers.',
  },
  provider_unauthorized: {
    title: 'The provider refuses the key',
    todo: 'An administrator of the server sets a valid key of the provider (PROVIDER_API_KEY).',
  },
  quarantine_full: {
    title: 'Quarantine nearly full',
    todo: 'List the quarantine, reprocess what is genuine, and purge the rest.',
  },
  report_differs: {
    title: 'Report differs from the ledger',
    todo: 'Nothing was published: follow the runbook, and hand in no figures of these days until a report is made.',
  },
  report_missing: { title: 'Report missing', todo: 'See the log of the job, remove the cause, and make the report.' },
  restore_unconfirmed: {
    title: 'Callbacks held after a restore',
    todo: 'Run confere doctor --restored, read what it says, and confirm.',
  },
  run_failed: {
    title: 'Reconciliation failed',
    todo: 'See whether the provider answers: the next one of its kind tries again.',
  },
  time_zone_differs: {
    title: 'Wrong time zone',
    todo: 'No day is closed meanwhile: an administrator of the server sets the zone (PROVIDER_TIME_ZONE), as the runbook says.',
  },
  two_writers: {
    title: 'Two database servers take writes',
    todo: 'Make all but one read-only: what is posted on one is missing on the other.',
  },
  webhook_loss_rate: {
    title: 'Too many webhooks lost',
    todo: 'Check the proxy’s log, and ask the provider to check its deliveries to our address.',
  },
  witness_away: {
    title: 'A witness does not countersign',
    todo: 'Ask who runs it: until it answers, the log has a countersignature less.',
  },
  witness_refused: {
    title: 'A witness saw another history',
    todo: 'Change nothing in the database, and compare it with a backup as the runbook says.',
  },
  worker_dead: { title: 'No worker is alive', todo: 'Start serve --worker, or see the log of the one that runs.' },
};

import type { MismatchKind } from '../../domain/mismatch.ts';
import type { AlertFacts, AlertText, Formats, Say } from './alert-facts.ts';
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
  commission_differs: { title: 'Commission differs', todo: 'Compare it with the contract and the provider’s invoice.' },
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
    todo: 'See the reason, remove the cause, and reprocess the webhook.',
  },
  e2e_date_differs: {
    title: 'E2E date far off',
    todo: 'Check on the receipt whether the E2E id is this payment’s.',
  },
  closed_day_changed: {
    title: 'A reported day changed',
    todo: 'Make the next revision of that day’s report and inform accounting.',
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
  provider_unauthorized: { title: 'The provider refuses the key', todo: 'Set a valid PROVIDER_API_KEY.' },
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
    todo: 'No day is closed meanwhile: set PROVIDER_TIME_ZONE as the runbook says.',
  },
  two_writers: {
    title: 'Two database servers take writes',
    todo: 'Make all but one read-only: what is posted on one is missing on the other.',
  },
  webhook_loss_rate: {
    title: 'Too many webhooks lost',
    todo: 'Check the proxy’s log, and ask the provider to check its deliveries to our address.',
  },
  worker_dead: { title: 'No worker is alive', todo: 'Start serve --worker, or see the log of the one that runs.' },
};

const stakeOf = ({ cents = '0' }: AlertFacts, { money }: Formats): string =>
  cents === '0' ? '' : `, ${money(cents)} at stake`;

const sayMismatches: Say = (facts, as) => {
  const { count = 1, transaction, expected, mismatch, about } = facts;
  const order = expected && `order ${expected}`;
  const one = transaction ? `transaction ${transaction}` : (order ?? (mismatch ? `mismatch ${mismatch}` : about));
  const stake = stakeOf(facts, as);
  return count === 1 ? `${one}${stake}` : `${count} mismatches of one cause${stake}; one of them: ${one}`;
};
const sayRun: Say = ({ error, trigger, run }) => (run ? `${error} (${trigger}, reconciliation ${run})` : `${error}`);
const sayMerchant: Say = ({ merchant, merchantName, since }, { at }) =>
  `merchant ${[merchantName, merchant].filter(Boolean).join(' ')}, since ${at(since)}`;

export const EN_SAY: Record<Exclude<AlertKind, MismatchKind> | 'mismatches', Say> = {
  mismatches: sayMismatches,
  baseline_mismatches: (facts, as) => {
    const titles = EN_TEXTS as Record<string, AlertText>;
    const list = Object.entries(facts.kinds ?? {}).map(([kind, count]) => `${count} × ${titles[kind]?.title ?? kind}`);
    return `${facts.count} mismatches from before WEBHOOKS_SINCE${stakeOf(facts, as)}: ${list.join(', ')}`;
  },
  callback_failed: ({ merchant, merchantName, count }) =>
    `merchant ${[merchantName, merchant].filter(Boolean).join(' ')} accepted ${count} callbacks on no attempt in the last 24 h`,
  callbacks_behind: ({ count, since }, { at }) =>
    `${count} callbacks are due and not sent, the oldest since ${at(since)}`,
  clock_differs: ({ clocks = [] }) =>
    clocks
      .map(
        ({ host, seconds }) => `${host} is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} the database`,
      )
      .join(', '),
  database_read_only: ({ error, since }, { at }) => `the database has refused writes since ${at(since)} (${error})`,
  disk_full: ({ disks = [] }) =>
    disks.map(({ part, host, holder = host, mib }) => `${part} of ${holder} has ${mib} MiB free`).join(', '),
  expected_behind: ({ since }, { at }) => `what changed since ${at(since)} is not matched with the orders`,
  inbound_silence: ({ since, hours }, { at }) =>
    since
      ? `no webhook came since ${at(since)}, longer than the usual ${hours} h: does the provider still send?`
      : 'no receiver is alive: webhooks are not taken in; start serve --web',
  inbox_behind: ({ since }, { at }) => `a webhook waits for its verification since ${at(since)}`,
  job_failed: ({ job, since, error }, { at }) =>
    `job ${job} failed (its last tick was due at ${at(since)}${error ? `: ${error}` : ''}): confere jobs shows the error`,
  job_overdue: ({ job, since, isRunning }, { at }) =>
    `job ${job} ${isRunning ? 'takes too long or was abandoned' : 'did not start in time'} (${since ? `its last tick was due at ${at(since)}` : 'it never ran'}): see confere jobs`,
  merchant_disabled: sayMerchant,
  merchant_failing: sayMerchant,
  no_complete_run: ({ since }, { at }) => `no reconciliation since ${at(since)} has read today completely`,
  opening_to_come: ({ opening, days = [], platform }, { day }) =>
    `opening balance ${opening} is of ${day(days[0] ?? '')}, a day to come: nothing of platform ${platform} is posted; confere open --undo ${opening}`,
  provider_failing: ({ operation, percent, error, since }, { at }) =>
    `${percent} % of its ${operation} requests fail or are slow since ${at(since)} (${error})`,
  provider_unauthorized: sayRun,
  quarantine_full: ({ percent, total }) =>
    `the quarantine holds ${percent} % of QUARANTINE_MAX_BYTES (${total}): once it is full, webhooks that name no transaction are answered 503, and the oldest of them are dropped`,
  report_differs: ({ days = [], sheet = '', error = '' }, { day }) =>
    `the workbook of ${days.map(day).join(' to ')} was not published: its sheet ${sheet} differs from the ledger (${error})`,
  report_missing: ({ days = [] }, { day }) => `no report of ${days.map(day).join(', ')} was made`,
  restore_unconfirmed: ({ since, count }, { at }) =>
    `the database was restored at ${at(since)}, and ${count} callbacks wait for the confirmation: confere doctor --restored`,
  run_failed: sayRun,
  time_zone_differs: ({ zone, minutes, fits }) =>
    `PROVIDER_TIME_ZONE ${zone} is ${minutes} minutes off the minutes inside end-to-end ids; what would fit: ${fits}`,
  two_writers: ({ hosts = [] }) => `${hosts.join(' and ')} take writes, and are different servers`,
  webhook_loss_rate: ({ count, total, percent, since }, { at }) =>
    `${count} of ${total} changes since ${at(since)} came without their webhook (${percent} %)`,
  worker_dead: ({ parts = [] }, { at }) =>
    `no worker shows life (${parts.map(({ part, since }) => `${part} ${since ? `since ${at(since)}` : 'never'}`).join(', ')}): start serve --worker, or see its log`,
};

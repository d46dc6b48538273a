import type { MismatchKind } from '../../domain/mismatch.ts';
import type { AlertFacts, AlertText, Formats, Say } from './alert-facts.ts';
import type { AlertKind } from './alert-kinds.ts';
import { EN_TEXTS } from './texts-en.ts';

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
  address_change_waits: sayMerchant,
  baseline_mismatches: (facts, as) => {
    const titles = EN_TEXTS as Record<string, AlertText>;
    const list = Object.entries(facts.kinds ?? {}).map(([kind, count]) => `${count} × ${titles[kind]?.title ?? kind}`);
    return `${facts.count} mismatches about payments and days from before webhooks were received${stakeOf(facts, as)}: ${list.join(', ')}`;
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
  witness_away: ({ hosts = [], since }, { at }) => `${hosts.join()} has countersigned nothing since ${at(since)}`,
  witness_refused: ({ hosts = [], error = '' }) => `${hosts.join()} refuses our log: ${error}`,
  worker_dead: ({ parts = [] }, { at }) =>
    `no worker shows life (${parts.map(({ part, since }) => `${part} ${since ? `since ${at(since)}` : 'never'}`).join(', ')}): start serve --worker, or see its log`,
};

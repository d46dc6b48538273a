import { readDiskMetrics } from '../../../jobs/watch-disks.ts';
import { readWorkerMetrics } from '../../../jobs/watch-workers.ts';
import { readAlertMetrics } from '../../alerts/read/read-alert-metrics.ts';
import { readBackupMetrics } from '../../backup/read-backup-metrics.ts';
import { readCallbackMetrics } from '../../callbacks/health/read-callback-metrics.ts';
import { readPullMetrics } from '../../callbacks/health/read-pull-metrics.ts';
import { measureAheadMs } from '../../database/clock.ts';
import { readLockMetrics, readPoolMetrics } from '../../database/open/read-pool-metrics.ts';
import { readExpectedMetrics } from '../../expected/read-expected-metrics.ts';
import type { MetricReaders } from '../../http/expose-metrics.ts';
import { readInboxMetrics } from '../../inbox/manage/read-inbox-metrics.ts';
import { readQuarantineMetrics } from '../../inbox/receive/measure-quarantine.ts';
import { readSilenceMetrics } from '../../inbox/silence/watch-silence.ts';
import { readMismatchMetrics } from '../../mismatches/read-mismatch-metrics.ts';
import { readSealMetrics } from '../../proof/verify-sealed.ts';
import { readBudgetMetrics } from '../../provider/open-token-bucket.ts';
import {
  readAnnouncementMetrics,
  readCoverageMetrics,
  readRunMetrics,
} from '../../reconciliation/numbers/read-proof-metrics.ts';
import { readReportMetrics } from '../../reports/revisions/read-report-metrics.ts';
import { readSizeMetrics } from '../../retention/read-size-metrics.ts';
import { readJobMetrics } from '../../timetable/read-job-metrics.ts';

/** Readers that each process calls at a scrape, by the name that `confere_scrape_failed` shows. All but `pool`, `disks` and `clock` read the database. */
export const METRIC_READERS: MetricReaders = {
  pool: readPoolMetrics,
  disks: readDiskMetrics,
  clock: async (context) => [
    {
      name: 'confere_clock_ahead_seconds',
      help: 'How far the clock of this machine is ahead of the database’s; behind: below 0.',
      values: measureAheadMs(context) / 1000,
    },
  ],
  workers: readWorkerMetrics,
  locks: readLockMetrics,
  silence: readSilenceMetrics,
  inbox: readInboxMetrics,
  quarantine: readQuarantineMetrics,
  budget: readBudgetMetrics,
  runs: readRunMetrics,
  coverage: readCoverageMetrics,
  announcements: readAnnouncementMetrics,
  mismatches: readMismatchMetrics,
  expected: readExpectedMetrics,
  seals: readSealMetrics,
  callbacks: readCallbackMetrics,
  pull: readPullMetrics,
  alerts: readAlertMetrics,
  reports: readReportMetrics,
  jobs: readJobMetrics,
  backups: readBackupMetrics,
  sizes: readSizeMetrics,
};

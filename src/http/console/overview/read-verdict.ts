import type { Response } from 'express';
import { type AlertCounts, countFiring, type ListedAlert, listAlerts } from '../../../alerts/read/read-alerts.ts';
import type { CallbackCounts } from '../../../callbacks/health/count-undelivered.ts';
import { isFailing } from '../../../callbacks/health/merchant-health.ts';
import type { Context } from '../../../context.ts';
import type { Reader } from '../../../database/reader.ts';
import { parseSum } from '../../../domain/money.ts';
import { maskText } from '../../../domain/person/mask-person.ts';
import { findOldestUnverified } from '../../../inbox/manage/read-inbox-metrics.ts';
import { readNewestStatements } from '../../../ledger/stated/state-balance.ts';
import { type OpenMismatchCount, readDecidedMismatches } from '../../../mismatches/read-open-mismatches.ts';
import { presentPlatform } from '../../../operations/mask-texts.ts';
import { findReadingOfToday, readUnproven } from '../../../reconciliation/numbers/read-coverage.ts';
import { readPageProgress } from '../../../reconciliation/numbers/read-runs.ts';
import { readProviderHealth } from '../../../reconciliation/watches/watch-provider.ts';
import { endOfNow } from '../../../seal/read-balances.ts';
import { findLastSuccess } from '../../../timetable/read-job-states.ts';
import { canSeePersonalData, getCaller } from '../../access/authorize.ts';
import { explainAlerts } from '../alerts/list-alerts.ts';
import { labelPlatform, type PlatformNames } from '../parts/read-platform-names.ts';
import { restoredSince } from '../parts/restored.ts';
import type { VerdictFacts } from './decide-verdict.ts';

/** Firing alerts that the verdict orders; more are counted. */
const ALERTS_MAX = 50;
/** Alerts of a request that waits for a decision: nothing is wrong. */
const NOTICES: readonly string[] = ['address_change_waits'];

/**
 * Reads what the verdict depends on, and the alerts that fire.
 * @param shown what the overview has read already, and the names of platforms and merchants as the caller may see them.
 */
export async function readVerdict(
  context: Context,
  response: Response,
  shown: { platforms: string[]; open: OpenMismatchCount[]; callbacks: CallbackCounts; names: PlatformNames },
): Promise<{ facts: VerdictFacts; alerts: ListedAlert[]; firing: AlertCounts }> {
  const { db, calendar, clock } = context;
  const { platforms, open, callbacks, names } = shown;
  const nameOf = (platform: string): string =>
    labelPlatform(names, presentPlatform(getCaller(response), { platform }).platform);
  const now = clock.now();
  const restored = restoredSince(response);
  const openings = await db.selectFrom('openings').select(['platform', 'day']).where('in_force', '=', 1).execute();
  const [firstOpening] = openings.map(({ day }) => day).sort();
  const [newest, firing, before, statements, decided, merchants, readAt, activeRun, unproven, watchedAt, checkedAt] =
    await Promise.all([
      listAlerts(db, { state: 'firing', limit: ALERTS_MAX }),
      countFiring(db, { since: restored }),
      restored ? countFiring(db, { until: restored }) : new Map<string, number>(),
      readNewestStatements(context, endOfNow(context)),
      readDecidedMismatches(db),
      readFailingMerchants(db, restored ? undefined : now),
      findReadingOfToday(context),
      findActiveRun(db),
      readUnproven(context, firstOpening),
      findLastSuccess(db, 'watch'),
      findLastSuccess(db, 'check_books'),
    ]);
  const [unverifiedSince, provider] = await Promise.all([findOldestUnverified(db, now), readProviderHealth(context)]);
  // the newest come first
  const alerts = newest.filter(({ raisedAt }) => !restored || raisedAt >= restored);
  const notices = alerts.filter(({ name }) => NOTICES.includes(name));
  const others = alerts.filter((alert) => !notices.includes(alert));
  const show = async (some: ListedAlert[]) =>
    (await explainAlerts(context, response, names, some)).map((one) => ({
      ...{ title: one.title, text: one.text, path: one.path, severity: one.code, since: one.raisedAt },
      cents: BigInt(one.facts?.cents ?? 0),
    }));
  const facts: VerdictFacts = {
    ...{ now, today: calendar.dayOf(now), alertCount: sumOf(firing) - notices.length, alertsBefore: sumOf(before) },
    ...{ decided, readAt, watchedAt, activeRun, unproven },
    ...{ unverifiedSince, unwritableSince: context.writes.failingSince() },
    providerFault: provider.failing ?? provider.suspect,
    alerts: await show(others),
    notices: await show(notices),
    statements: statements.flatMap(({ platform, difference }) => {
      const differenceCents = parseSum(difference) ?? 0n;
      return differenceCents === 0n ? [] : [{ platform: nameOf(platform), differenceCents }];
    }),
    openMismatches: {
      count: countOf(open),
      cents: open.reduce((sum, one) => sum + one.stakeCents, 0n),
      critical: countOf(open.filter(({ severity }) => severity === 'critical')),
      broken: countOf(open.filter(({ kind }) => kind === 'books_broken')),
      checkedAt,
    },
    merchants: merchants.map((one) => ({ ...one, name: canSeePersonalData(response) ? one.name : maskText(one.name) })),
    failedCallbacks: {
      n: [...callbacks.values()].reduce((sum, { failed }) => sum + failed.n, 0),
      isMore: [...callbacks.values()].some(({ failed }) => failed.isMore),
    },
    booksFrom: unproven.from,
    unopened:
      platforms.length === 0 && openings.length === 0
        ? undefined
        : platforms.filter((platform) => openings.every((opening) => opening.platform !== platform)).map(nameOf),
  };
  return { facts, alerts, firing };
}

const countOf = (rows: OpenMismatchCount[]): number => rows.reduce((sum, { count }) => sum + count, 0);

const sumOf = (counts: AlertCounts): number => [...counts.values()].reduce((sum, one) => sum + one, 0);

/** Merchants that are disabled, or fail `now` as their badges say: a paused one makes no attempts, nor does a restored database. */
async function readFailingMerchants(db: Reader, now: Date | undefined): Promise<VerdictFacts['merchants']> {
  const rows = await db
    .selectFrom('merchants')
    .select(['id', 'name', 'state', 'failing_since'])
    .where('deleted_at', 'is', null)
    .where((eb) =>
      eb.or([eb('state', '=', 'disabled'), eb.and([eb('state', '=', 'enabled'), eb('failing_since', 'is not', null)])]),
    )
    .orderBy('seq')
    .execute();
  return rows
    .filter(({ state, failing_since }) => state === 'disabled' || (now && isFailing(failing_since, now)))
    .map(({ id, name, state, failing_since }) => ({
      ...{ id, name, isDisabled: state === 'disabled', since: failing_since ?? undefined },
    }));
}

/** The run that is active since the longest time. */
async function findActiveRun(db: Reader): Promise<VerdictFacts['activeRun']> {
  const row = await db
    .selectFrom('runs')
    .select(['id', 'seq'])
    .where('state', 'in', ['queued', 'running'])
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
  return row && { id: row.id, reading: await readPageProgress(db, row.seq) };
}

import { type ListedAlert, listAlerts } from '../../../alerts/read/read-alerts.ts';
import { describeAlert } from '../../../alerts/texts/describe-alert.ts';
import type { Context } from '../../../context.ts';
import type { Reader } from '../../../database/reader.ts';
import { parseSum } from '../../../domain/money.ts';
import { maskPlatform, maskText } from '../../../domain/person/mask-person.ts';
import { readNewestStatements } from '../../../ledger/stated/state-balance.ts';
import { type OpenMismatchCount, readDecidedMismatches } from '../../../mismatches/read-open-mismatches.ts';
import { findReadingOfToday, readUnproven } from '../../../reconciliation/numbers/read-coverage.ts';
import { language } from '../languages/language.ts';
import type { CallbackCounts } from '../parts/read-callback-counts.ts';
import type { VerdictFacts } from './decide-verdict.ts';

/** Firing alerts that the verdict orders; more are counted. */
const ALERTS_MAX = 50;

/**
 * Reads what the verdict depends on, and the alerts that fire.
 * @param shown what the overview has read already, and whether names of platforms and merchants are shown unmasked (`full`).
 */
export async function readVerdict(
  context: Context,
  shown: { platforms: string[]; open: OpenMismatchCount[]; callbacks: CallbackCounts; full: boolean },
): Promise<{ facts: VerdictFacts; alerts: ListedAlert[] }> {
  const { db, calendar, clock } = context;
  const { platforms, open, callbacks, full } = shown;
  const now = clock.now();
  const openings = await db.selectFrom('openings').select(['platform', 'day']).where('in_force', '=', 1).execute();
  const [firstOpening] = openings.map(({ day }) => day).sort();
  const until = calendar.toWallTimeRoundedUp(new Date(now.getTime() + 1));
  const [alerts, alertCount, statements, decided, merchants, readAt, activeRun, unproven] = await Promise.all([
    listAlerts(db, { state: 'firing', limit: ALERTS_MAX }),
    countFiring(db),
    readNewestStatements(context, until),
    readDecidedMismatches(db),
    readFailingMerchants(db),
    findReadingOfToday(context),
    findActiveRun(db),
    readUnproven(context, firstOpening),
  ]);
  const facts: VerdictFacts = {
    ...{ now, today: calendar.dayOf(now), alertCount, decided, readAt, activeRun, unproven },
    alerts: alerts.map((alert) => {
      const { title, text, path } = describeAlert(calendar, language(), alert);
      return {
        title,
        text,
        path,
        severity: alert.severity,
        cents: BigInt(alert.facts?.cents ?? 0),
        since: alert.raisedAt,
      };
    }),
    statements: statements.flatMap(({ platform, difference }) => {
      const differenceCents = parseSum(difference) ?? 0n;
      return differenceCents === 0n ? [] : [{ platform: full ? platform : maskPlatform(platform), differenceCents }];
    }),
    openMismatches: {
      count: open.reduce((sum, one) => sum + one.count, 0),
      cents: open.reduce((sum, one) => sum + one.stakeCents, 0n),
    },
    merchants: merchants.map((one) => ({ ...one, name: full ? one.name : maskText(one.name) })),
    failedCallbacks: [...callbacks.values()].reduce((sum, { failed }) => sum + failed, 0),
    booksFrom: unproven.from,
    unopened:
      platforms.length === 0 && openings.length === 0
        ? undefined
        : platforms
            .filter((platform) => openings.every((opening) => opening.platform !== platform))
            .map((platform) => (full ? platform : maskPlatform(platform))),
  };
  return { facts, alerts };
}

async function countFiring(db: Reader): Promise<number> {
  const row = await db
    .selectFrom('alerts')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('firing_scope', 'is not', null)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

async function readFailingMerchants(db: Reader): Promise<VerdictFacts['merchants']> {
  const rows = await db
    .selectFrom('merchants')
    .select(['id', 'name', 'state', 'failing_since'])
    .where('deleted_at', 'is', null)
    .where((eb) => eb.or([eb('state', '=', 'disabled'), eb('failing_since', 'is not', null)]))
    .orderBy('seq')
    .execute();
  return rows.map(({ id, name, state, failing_since }) => ({
    ...{ id, name, isDisabled: state === 'disabled', since: failing_since ?? undefined },
  }));
}

/** The run that is active since the longest time. */
async function findActiveRun(db: Reader): Promise<string | undefined> {
  const row = await db
    .selectFrom('runs')
    .select('id')
    .where('state', 'in', ['queued', 'running'])
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
  return row?.id;
}

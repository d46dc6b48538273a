import path from 'node:path';
import type { Reader } from '../../database/reader.ts';
import { listPlatformNames } from '../../database/shared/list-platform-names.ts';
import { addDays } from '../../domain/calendar.ts';
import { maskText } from '../../domain/person/mask-person.ts';
import { textsOf } from '../../texts/reports/texts.ts';
import { createReceiptShares } from '../orders/share-receipts.ts';
import { type AnyPlan, FILE_FORMATS, type FileFormat, spanOf, toWallTimeBounds } from '../plan/report-plan.ts';
import { createTally } from '../read/create-tally.ts';
import { createDigest } from '../read/digest-rows.ts';
import { filterPlatform, readAccountBalances } from '../read/read-accounts.ts';
import { readCutEntries } from '../read/read-cut-entries.ts';
import { readFactsAtCut } from '../read/read-facts-at-cut.ts';
import { createFactory, type ReportWork } from './report-work.ts';

/** Reads what all steps need: the balances before the first day, and the facts that changed after the cut. */
export async function prepareWork<Plan extends AnyPlan>(
  db: Reader,
  plan: Plan,
  directory: string,
  signal: AbortSignal,
): Promise<ReportWork<Plan>> {
  const { from, to } = spanOf(plan);
  const cutEntries = await readCutEntries(db, plan.cut);
  const scope = { ...toWallTimeBounds(from, addDays(to, 1)), ...cutEntries, platform: plan.platform };
  const balances = filterPlatform(await readAccountBalances(db, scope), plan.platform);
  const digest = createDigest(from === to ? from : `${from}..${to}`, plan.platform);
  for (const balance of balances) digest.addBalance(balance);
  const texts = textsOf(plan.locale);
  return {
    db,
    plan,
    scope,
    rendering: {
      texts,
      fullDocuments: plan.fullDocuments,
      toWall: memoizeWallTime(plan),
      platformNames: await readNames(db, plan),
    },
    digest,
    balances,
    factsAtCut: await readFactsAtCut(db, { ...plan.cut, ...cutEntries }),
    tally: createTally(balances, plan.platform),
    shares: plan.cut.orders ? createReceiptShares(db, plan.cut.orders) : undefined,
    factory: createFactory(plan, texts, directory, signal),
    files: nameFiles(directory),
    signal,
  };
}

function nameFiles(directory: string): Record<FileFormat, string> {
  const files = FILE_FORMATS.map((format) => [format, path.join(directory, `report.${format}`)]);
  return Object.fromEntries(files) as Record<FileFormat, string>; // one for each format
}

/** A platform that is withheld from this reader has no name either: its rows have another id. */
async function readNames(db: Reader, { madeAt, masked }: AnyPlan): Promise<Map<string, string>> {
  const named = await listPlatformNames(db, madeAt);
  const shown = masked ? named.filter(({ name }) => maskText(name) === name) : named;
  return new Map(shown.map(({ platform, name }) => [platform, name]));
}

/** Rows that were written together were recorded together: the last conversion serves most of the next ones. */
function memoizeWallTime({ calendar }: AnyPlan): (instant: Date) => string {
  let last = Number.NaN;
  let wall = '';
  return (instant) => {
    if (instant.getTime() !== last) {
      last = instant.getTime();
      wall = calendar.toWallTime(instant);
    }
    return wall;
  };
}

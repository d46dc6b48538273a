import {
  copyFileSync,
  existsSync,
  lutimesSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import path from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { VERSION } from '../../../src/domain/version.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { BUILD_LIMITS, buildOnce } from '../../../src/reports/serve/build-once.ts';
import { DERIVED_LIMITS, evictDerivedFiles } from '../../../src/reports/serve/evict-derived-files.ts';
import { openReport } from '../../../src/reports/serve/open-report.ts';
import { useReport } from '../../../src/reports/serve/use-report.ts';
import { applyRetention } from '../../../src/retention/apply-retention.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { makeShownTransaction, observeNow } from '../../support/read-ledger-state.ts';

const DAY = '2026-03-10';

const environment = closeAfterAll(await openEnvironment());
let directory: string;
beforeAll(async () => {
  directory = path.join(environment.dataDir, 'reports');
  await applyObservations(environment.context, [
    observeNow(environment.context, makeShownTransaction(['paid@1'], { platform: 'p' })),
  ]);
  await makeReport(environment.context, DAY);
});

const derived = () => readdirSync(directory).filter((name) => /-r1-/.test(name) && !name.endsWith('.sha256'));

test('concurrent requests for one file share a build, which makes all formats', async () => {
  const { context } = environment;
  const spy = vi.spyOn(context.db, 'transaction');
  const opened = await Promise.all(
    (['xlsx', 'csv', 'xlsx', 'journal', 'csv'] as const).map((format) =>
      openReport(context, { day: DAY, format, locale: 'en', masked: true }),
    ),
  );
  expect(new Set(opened.map((one) => one.name)).size).toBe(3);
  // a build reads in one snapshot
  expect(spy.mock.calls.length).toBe(1);
  spy.mockRestore();
});

test('builds and waiting requests are limited; a further request is refused with Retry-After', async () => {
  const { context } = environment;
  const release = Promise.withResolvers<void>();
  let running = 0;
  const work = async () => {
    running++;
    await release.promise;
    return running;
  };
  const { atOnceMax, waitingMax } = BUILD_LIMITS;
  const asked = Array.from({ length: atOnceMax + waitingMax }, (_, index) => buildOnce(context, `${index}`, work));
  expect(running).toBe(atOnceMax);
  await expect(buildOnce(context, 'one more', work)).rejects.toMatchObject({ code: 'unavailable', retryAfterS: 10 });
  // a request for a running build takes no slot
  const again = buildOnce(context, '0', work);
  expect(running).toBe(atOnceMax);
  release.resolve();
  await Promise.all([...asked, again]);
  expect(running).toBe(atOnceMax + waitingMax);
  expect(await buildOnce(context, 'one more', work)).toBe(running);
});

test("derived files are deleted by age, then the oldest beyond the limit; new ones and a revision's own stay", async () => {
  const { context } = environment;
  for (const locale of ['en', undefined] as const) {
    for (const platform of ['p', undefined]) {
      await openReport(context, {
        ...{ day: DAY, format: 'csv', masked: true },
        ...(locale ? { locale } : {}),
        ...(platform ? { platform } : {}),
      });
    }
  }
  const before = derived();
  expect(before.length).toBeGreaterThanOrEqual(9);
  expect(await evictDerivedFiles(context)).toEqual({ files: 0 });
  const age = (name: string, ms: number) => {
    const at = new Date(context.timers.now() - ms);
    utimesSync(path.join(directory, name), at, at);
  };
  const [old = '', large = '', ...others] = before;
  age(old, DERIVED_LIMITS.ageMsMax + 60_000);
  expect(await evictDerivedFiles(context)).toEqual({ files: 1 });
  expect([existsSync(path.join(directory, old)), existsSync(path.join(directory, `${old}.sha256`))]).toEqual([
    false,
    false,
  ]);
  // nothing fits, and all but one are new
  age(large, DERIVED_LIMITS.keptMs + 60_000);
  expect(await evictDerivedFiles(context, { ...DERIVED_LIMITS, bytesMax: 1 })).toEqual({ files: 1 });
  expect(derived().sort()).toEqual(others.sort());
  for (const name of others) age(name, DERIVED_LIMITS.keptMs + 60_000);
  await evictDerivedFiles(context, { ...DERIVED_LIMITS, bytesMax: 1 });
  expect(derived()).toEqual([]);
  const own = readdirSync(directory).filter((name) => !name.endsWith('.sha256'));
  expect(own.sort()).toEqual(['csv', 'journal', 'xlsx'].map((format) => `confere-${DAY}-r1.${format}`));
  const again = await openReport(context, { day: DAY, format: 'csv', masked: true });
  expect(existsSync(again.file)).toBe(true);
});

test('files of revisions older than RETAIN_REPORT_FILES are deleted with their sums, and made again with the same bytes', async () => {
  const { context } = environment;
  const { file, sha256 } = await openReport(context, { day: DAY, format: 'csv' });
  const old = new Date(context.clock.now().getTime() - 40 * 86_400_000);
  for (const format of ['csv', 'journal']) utimesSync(path.join(directory, `confere-${DAY}-r1.${format}`), old, old);
  const { config } = context;
  const shorter = { ...context, config: { ...config, RETAIN_REPORT_FILES: 39 * 86_400_000 } };
  const count = async (on: Context, write = true) =>
    (await applyRetention(on, { write })).find(({ name }) => name === 'report_files')?.rows;
  // neither a link, nor a revision that the database lacks, nor one that another version or a closed month keeps
  const [link = '', lost = ''] = ['r1.journal', 'r9.csv'].map((end) => path.join(directory, `confere-${DAY}-${end}`));
  const kept = path.join(environment.dataDir, 'kept.journal');
  renameSync(link, kept);
  symlinkSync(kept, link);
  lutimesSync(link, old, old);
  copyFileSync(file, lost);
  utimesSync(lost, old, old);
  const setVersion = (version: string) => context.db.updateTable('reports').set({ version }).execute();
  await setVersion('0.0.9');
  expect(await count(shorter, false)).toBe(0);
  await setVersion(VERSION);
  const change = { month: DAY.slice(0, 7), at: context.clock.now(), actor: 'test', note: null };
  await context.db
    .insertInto('month_closes')
    .values({ ...change, seq: 1, action: 'close' })
    .execute();
  expect(await count(shorter, false)).toBe(0);
  await context.db
    .insertInto('month_closes')
    .values({ ...change, seq: 2, action: 'reopen' })
    .execute();
  expect([await count(context), await count(shorter, false), existsSync(file)]).toEqual([0, 1, true]);
  expect(await count(shorter)).toBe(1);
  const own = readdirSync(directory).filter((name) => name.startsWith(`confere-${DAY}-r1.`));
  const ends = ['journal', 'journal.sha256', 'xlsx', 'xlsx.sha256'];
  expect(own.sort()).toEqual(ends.map((end) => `confere-${DAY}-r1.${end}`));
  expect([existsSync(lost), existsSync(kept)]).toEqual([true, true]);
  for (const one of [link, lost]) rmSync(one);
  expect((await openReport(context, { day: DAY, format: 'csv' })).sha256).toBe(sha256);
  expect(existsSync(file)).toBe(true);
});

test('a file that is deleted between its check and its sending is made again', async () => {
  const sent: string[] = [];
  await useReport(environment.context, { day: DAY, format: 'csv' }, async ({ file }) => {
    if (sent.push('') === 1) rmSync(file);
    sent.push(readFileSync(file, 'utf8'));
  });
  expect(sent).toEqual(['', '', expect.stringContaining('p')]);
});

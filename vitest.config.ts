import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { testDirectory } from './test/support/choose-test-directory.ts';
import { CompareReadme } from './test/support/compare-readme.ts';

/** Longer than any wait of a test (test/support/eventually.ts). Property tests take seconds on a busy machine, in the deep run minutes. */
const TIMEOUT_MS = process.env.TEST_DEEP === '1' ? 300_000 : 60_000;

/**
 * Tests run on Node's own type stripping, as the service does, and the files of a worker share its modules, because loading
 * the service took 2 s per file. A file that replaces a module (`*.mocked.test.ts`) has a worker of its own, in which vitest's
 * loader searches each module for mocks.
 */
const native = { viteModuleRunner: false };
const quick = { isolate: false, experimental: { ...native, nodeLoader: false } };
const database = {
  globalSetup: ['test/support/global-setup.ts'],
  setupFiles: [
    ...['test/support/check-node.ts', 'test/support/setup-service.ts'],
    // hooks run in reverse: it reads the databases before they are dropped
    ...(process.env.FREEZE_TO === undefined ? [] : ['test/support/freeze-surface.ts']),
  ],
};

const MOCKED = 'test/service/**/*.mocked.test.ts';
const ALL = 'test/{unit,service,browser}/**/*.test.ts';
const unit = { name: 'unit', include: ['test/unit/**/*.test.ts'], ...quick };
const shared = { name: 'shared', include: [ALL], exclude: [MOCKED], ...quick, ...database };
const isolated = { name: 'isolated', include: [MOCKED], experimental: native, ...database };

/** Unit tests named alone need no database server. Beside others they run in the same workers, which have loaded the service. */
const named = process.argv.flatMap((argument) => /^(?:\.\/)?test\/(\w+)/.exec(argument)?.[1] ?? []);
const isUnitOnly = named.length > 0 && named.every((folder) => folder === 'unit');

/** Files that take long for their size. */
const LONG =
  /commands\/(?:demo|npm-start|close-data-dir)|jobs\/close-days|reports\/disk-full|reconciliation\/take-over-run/;

/**
 * Begins with what takes long: at the end, the workers would wait for it. In a fresh clone vitest knows the sizes of files
 * alone. Projects run one after another, in the order of their names: the isolated files first.
 */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isFirst = ({ project, moduleId }: TestSpecification): boolean =>
      project.name === 'isolated' || LONG.test(moduleId);
    return [...sorted.filter(isFirst), ...sorted.filter((file) => !isFirst(file))];
  }
}

// workers and programs that tests start inherit it
process.env.TMPDIR = testDirectory();

/** `npm test` without arguments: `vitest run` alone. */
const isWhole = process.argv.slice(2).join(' ') === 'run';

/** Target of a whole run, printed and not enforced: a machine that does other work too counts up to three times as much for the same. */
const PROCESSOR_S_TARGET = 700;
/** Where Linux counts the processor time of a process and of its ended children, user and system, in hundredths of a second. */
const OWN_TIMES = '/proc/self/stat';
process.once('exit', () => {
  // knip reads this file too
  if (!process.argv.includes('run') || !existsSync(OWN_TIMES)) return;
  const ticks = readFileSync(OWN_TIMES, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
    .slice(11, 15);
  const seconds = ticks.reduce((sum, one) => sum + Number(one), 0) / 100;
  console.error(`processor: ${Math.round(seconds)} s${isWhole ? `, target ≤ ${PROCESSOR_S_TARGET} s` : ''}`);
});

export default defineConfig({
  test: {
    ...(isWhole ? { reporters: [...configDefaults.reporters, new CompareReadme()] } : {}),
    // a test spends half of its time waiting for the database, a browser or a process
    maxWorkers: availableParallelism() + 2,
    // a tenth of a worker's time was the collection of young objects; V8 would shrink their space while a test waits
    execArgv: ['--max-semi-space-size=64', '--min-semi-space-size=64'],
    testTimeout: TIMEOUT_MS,
    hookTimeout: TIMEOUT_MS,
    setupFiles: ['test/support/check-node.ts'],
    sequence: { sequencer: LongFirst },
    projects: (isUnitOnly ? [unit] : [isolated, shared]).map((test) => ({ extends: true as const, test })),
  },
});

import { defineConfig } from 'vitest/config';

const service = {
  globalSetup: ['test/support/global-setup.ts'],
  testTimeout: 60_000,
  hookTimeout: 60_000,
};

export default defineConfig({
  test: {
    // the service and browser tests start processes and wait for them: more files at once than cores only adds waiting
    maxWorkers: 2,
    setupFiles: ['test/support/check-node.ts'],
    projects: [
      // property tests take seconds where the machine is busy
      { extends: true, test: { name: 'unit', include: ['test/unit/**/*.test.ts'], testTimeout: 60_000 } },
      { extends: true, test: { name: 'service', include: ['test/service/**/*.test.ts'], ...service } },
      { extends: true, test: { name: 'browser', include: ['test/browser/**/*.test.ts'], ...service } },
    ],
  },
});

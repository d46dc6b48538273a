import { defineConfig } from 'vitest/config';

/** What wants another engine than the embedded one, and is no part of `npm test`: docs/operating.md, Engines. */
export default defineConfig({
  test: {
    include: ['test/engines/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/check-node.ts'],
  },
});

import { defineConfig } from 'vitest/config';

/** Tests on other engines than the embedded one. They are not part of `npm test`: see test/README.md. */
export default defineConfig({
  test: {
    include: ['test/engines/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/check-node.ts'],
  },
});

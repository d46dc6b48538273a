import { createRequire } from 'node:module';

/** The version in package.json. */
export const VERSION = (createRequire(import.meta.url)('../../package.json') as { version: string }).version;

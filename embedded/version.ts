import { createRequire } from 'node:module';

/** The version in package.json: of the service, the sandbox and the demo. */
export const VERSION = (createRequire(import.meta.url)('../package.json') as { version: string }).version;

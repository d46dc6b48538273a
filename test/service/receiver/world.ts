import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readConfig } from '../../../src/config.ts';
import { type Context, openContext } from '../../../src/context.ts';
import { createLog } from '../../../src/log.ts';
import { freshDatabase } from '../../support/database.ts';
import { SECRET_KEY, urlOf, WEBHOOK_SECRET } from '../../support/programs.ts';

/** A context on a database of its own, as the program opens one. */
export async function openWorld(env: Record<string, string> = {}): Promise<Context> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'confere-t-'));
  const config = readConfig({
    DATABASE_URL: urlOf(await freshDatabase()),
    SECRET_KEY,
    DATA_DIR: dataDir,
    PORT: '0',
    WEBHOOK_SECRET,
    ...env,
  });
  const log = createLog(env.LOG_LEVEL ? 'info' : 'silent', process.stderr);
  const context = await openContext(config, { log, signal: new AbortController().signal, migrates: true });
  return {
    ...context,
    async [Symbol.asyncDispose]() {
      await context[Symbol.asyncDispose]();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readConfig } from '../src/config.ts';
import { type Context, openContext } from '../src/context.ts';
import { createLog } from '../src/log.ts';

/** Opens an empty embedded database in a directory of its own. Both end with the stack. */
export async function openEmpty(stack: AsyncDisposableStack): Promise<Context> {
  const home = mkdtempSync(path.join(tmpdir(), 'confere-bench-'));
  stack.defer(() => rmSync(home, { recursive: true, force: true }));
  const config = readConfig({ DATA_DIR: home, SECRET_KEY: Buffer.alloc(32, 7).toString('base64') });
  const log = createLog('error', process.stderr);
  return stack.use(await openContext(config, { log, signal: new AbortController().signal, migrates: true }));
}

import { CommanderError } from 'commander';
import { describeApi } from './http/describe-api.ts';
import { readOptions, type SandboxOptions } from './read-options.ts';
import { showProgress } from './show-progress.ts';
import { type RunningSandbox, startSandbox } from './start-sandbox.ts';

process.umask(0o077);
process.exitCode = await main();

/** Runs until SIGTERM or SIGINT. Returns the exit code: 0 done, 1 failed, 2 wrong use. */
async function main(): Promise<number> {
  const options = optionsOrCode();
  if (typeof options === 'number') return options;
  if (options.printOpenapi) {
    process.stdout.write(`${JSON.stringify(describeApi(), null, 2)}\n`);
    return 0;
  }
  const stop = new Promise<void>((resolve) => {
    process.once('SIGTERM', () => resolve());
    process.once('SIGINT', () => resolve());
  });
  try {
    await using running = await startSandbox(options, log, showProgress(process.stderr, 'history'));
    process.stdout.write(options.json ? `${jsonOf(running)}\n` : textOf(running, options));
    await stop;
    return 0;
  } catch (error) {
    log(error instanceof Error ? error.message : String(error));
    return 1;
  }
}

function optionsOrCode(): SandboxOptions | number {
  try {
    return readOptions(process.argv.slice(2), { DATA_DIR: process.env.DATA_DIR });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    throw error;
  }
}

function jsonOf({ url, apiKey, checkoutUrl, history, seed }: RunningSandbox): string {
  return JSON.stringify({ url, api_key: apiKey, checkout_url: checkoutUrl, history, seed });
}

function textOf({ url, apiKey, checkoutUrl, history, seed }: RunningSandbox, { settings }: SandboxOptions): string {
  return [
    `The provider's sandbox listens on ${url}`,
    `  API key     ${apiKey}`,
    `  checkout    ${checkoutUrl}/transaction/<id>`,
    `  webhooks    ${settings.webhookUrl ?? 'nowhere (--webhook-url)'}`,
    `  seed        ${seed}`,
    ...(history > 0 ? [`  history     ${history.toLocaleString('en')} transactions made up`] : []),
    `Try: curl -H 'Authorization: Bearer ${apiKey}' -H 'Accept: application/json' ${url}/api/v1/transactions`,
    '',
  ].join('\n');
}

function log(message: string): void {
  process.stderr.write(`sandbox: ${message}\n`);
}

import { Command, CommanderError } from 'commander';
import { commissionsCommand } from './commands/commissions.ts';
import { demoCommand } from './commands/demo.ts';
import { doctorCommand } from './commands/doctor.ts';
import { exportCommand } from './commands/export.ts';
import { forgetCommand } from './commands/forget.ts';
import { merchantsCommand } from './commands/merchants.ts';
import { migrateCommand } from './commands/migrate.ts';
import { mismatchesCommand } from './commands/mismatches.ts';
import { openCommand } from './commands/open.ts';
import { reconcileCommand } from './commands/reconcile.ts';
import { rotateKeyCommand } from './commands/rotate-key.ts';
import { serveCommand } from './commands/serve.ts';
import { tokensCommand } from './commands/tokens.ts';
import { webhooksCommand } from './commands/webhooks.ts';
import { ConfereError } from './domain/errors.ts';
import { describeError } from './log.ts';

/** Exit codes: 0 done, 1 failed, 2 wrong use. */
/** Our own errors in full; of others only what they are: a database's error quotes the values that it was given. */
function describe(error: unknown): string {
  if (error instanceof ConfereError) return error.message;
  const { name, code, at } = describeError(error);
  const quotes = code !== undefined && /^ER_/.test(String(code));
  const message = !quotes && error instanceof Error ? error.message : '';
  return [name, code, message, at?.[0]].filter(Boolean).join(' ');
}

const program = new Command('confere')
  .description("takes a PIX provider's webhooks in, keeps a ledger right to the cent, proves it, and hands it on")
  .exitOverride()
  .showHelpAfterError();

const commands = [serveCommand, migrateCommand, openCommand, reconcileCommand, exportCommand];
for (const add of [
  ...commands,
  mismatchesCommand,
  commissionsCommand,
  merchantsCommand,
  tokensCommand,
  webhooksCommand,
  forgetCommand,
  rotateKeyCommand,
  doctorCommand,
  demoCommand,
])
  add(program);
program.command('sandbox').description("the provider's own service, to develop against: confere sandbox --help");

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else {
    const wrongUse =
      error instanceof ConfereError && ['config_invalid', 'wrong_use', 'invalid_request'].includes(error.code);
    process.stderr.write(`confere: ${describe(error)}\n`);
    process.exitCode = wrongUse ? 2 : 1;
  }
}

import { Command, CommanderError } from 'commander';
import { ConfereError } from '../domain/errors.ts';
import { describeError } from '../log.ts';
import { commissionsCommand } from './commissions.ts';
import { demoCommand } from './demo.ts';
import { doctorCommand } from './doctor.ts';
import { exportCommand } from './export.ts';
import { forgetCommand } from './forget.ts';
import { merchantsCommand } from './merchants.ts';
import { migrateCommand } from './migrate.ts';
import { mismatchesCommand } from './mismatches.ts';
import { openCommand } from './open.ts';
import { reconcileCommand } from './reconcile.ts';
import { rotateKeyCommand } from './rotate-key.ts';
import { serveCommand } from './serve.ts';
import { tokensCommand } from './tokens.ts';
import { webhooksCommand } from './webhooks.ts';

import { withContext } from './with-context.ts';

/**
 * Runs one command of the command line. Exit codes, in process.exitCode: 0 done, 1 failed, 2 wrong use.
 * @param args what follows `confere`. @param open opens the context of commands that wait for time to pass.
 */
export async function runCommandLine(args: string[], open: typeof withContext = withContext): Promise<void> {
  try {
    await createProgram(open).parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
    else {
      const wrongUse =
        error instanceof ConfereError && ['config_invalid', 'wrong_use', 'invalid_request'].includes(error.code);
      process.stderr.write(`confere: ${describe(error)}\n`);
      process.exitCode = wrongUse ? 2 : 1;
    }
  }
}

function createProgram(open: typeof withContext): Command {
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
    add(program, open);
  program.command('sandbox').description("the provider's own service, to develop against: confere sandbox --help");
  return program;
}

/** Our own errors in full; of others only what they are: a database's error quotes the values that it was given. */
function describe(error: unknown): string {
  if (error instanceof ConfereError) return error.message;
  const { name, code, at } = describeError(error);
  const quotes = code !== undefined && /^ER_/.test(String(code));
  const message = !quotes && error instanceof Error ? error.message : '';
  return [name, code, message, at?.[0]].filter(Boolean).join(' ');
}

import { Command, CommanderError } from 'commander';
import { ConfereError } from '../domain/errors.ts';
import { showUnseen } from '../domain/language/show-unseen.ts';
import { VERSION } from '../domain/version.ts';
import { describeFailure } from '../runtime/describe-failure.ts';
import { isClosedOutput } from './closed-output.ts';
import { addKeyOption, runInvocation } from './keyed-command.ts';
import { withContext } from './with-context.ts';

type AddCommand = (program: Command, open: typeof withContext) => void;

/** In the order of the help. A command is imported when it runs: all together take a second of CPU time. */
const COMMANDS: Record<string, () => Promise<AddCommand>> = {
  init: async () => (await import('./init/init.ts')).initCommand,
  serve: async () => (await import('./serve/serve.ts')).serveCommand,
  migrate: async () => (await import('./migrate.ts')).migrateCommand,
  open: async () => (await import('./books/open.ts')).openCommand,
  statements: async () => (await import('./books/statements.ts')).statementsCommand,
  adjustments: async () => (await import('./books/adjustments.ts')).adjustmentsCommand,
  bank: async () => (await import('./books/bank.ts')).bankCommand,
  reconcile: async () => (await import('./reconcile.ts')).reconcileCommand,
  export: async () => (await import('./export.ts')).exportCommand,
  close: async () => (await import('./books/months.ts')).closeCommand,
  reopen: async () => (await import('./books/months.ts')).reopenCommand,
  months: async () => (await import('./books/months.ts')).monthsCommand,
  mismatches: async () => (await import('./mismatches.ts')).mismatchesCommand,
  commissions: async () => (await import('./books/commissions.ts')).commissionsCommand,
  accounts: async () => (await import('./books/accounts.ts')).accountsCommand,
  expected: async () => (await import('./expected.ts')).expectedCommand,
  import: async () => (await import('./imports/imports.ts')).importCommand,
  platforms: async () => (await import('./books/platforms.ts')).platformsCommand,
  merchants: async () => (await import('./merchants/merchants.ts')).merchantsCommand,
  callbacks: async () => (await import('./merchants/callbacks.ts')).callbacksCommand,
  manifests: async () => (await import('./merchants/manifests.ts')).manifestsCommand,
  listen: async () => (await import('./developer/listen.ts')).listenCommand,
  verify: async () => (await import('./developer/verify.ts')).verifyCommand,
  events: async () => (await import('./developer/trigger.ts')).eventsCommand,
  mcp: async () => (await import('./mcp.ts')).mcpCommand,
  tokens: async () => (await import('./access/tokens.ts')).tokensCommand,
  users: async () => (await import('./access/users.ts')).usersCommand,
  audit: async () => (await import('./access/audit.ts')).auditCommand,
  webhooks: async () => (await import('./inbox/webhooks.ts')).webhooksCommand,
  jobs: async () => (await import('./jobs.ts')).jobsCommand,
  retention: async () => (await import('./retention.ts')).retentionCommand,
  archives: async () => (await import('./inbox/archives.ts')).archivesCommand,
  forget: async () => (await import('./forget/forget.ts')).forgetCommand,
  'rotate-key': async () => (await import('./rotate-key.ts')).rotateKeyCommand,
  backup: async () => (await import('./backup/backup.ts')).backupCommand,
  restore: async () => (await import('./backup/restore.ts')).restoreCommand,
  drill: async () => (await import('./backup/drill.ts')).drillCommand,
  config: async () => (await import('./config.ts')).configCommand,
  doctor: async () => (await import('./doctor.ts')).doctorCommand,
};

/**
 * Runs one command of the command line. Exit codes, in process.exitCode: 0 done, 1 failed, 2 wrong use, 3 not yet.
 * @param args the arguments after `confere`. @param open opens the context of commands that wait; tests pass timers by it.
 */
export async function runCommandLine(args: string[], open: typeof withContext = withContext): Promise<void> {
  try {
    const program = await createProgram(args[0] ?? '', open);
    await runInvocation(() => program.parseAsync(args, { from: 'user' }));
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
    else if (!isClosedOutput(error)) {
      const wrongUse =
        error instanceof ConfereError && ['config_invalid', 'wrong_use', 'invalid_request'].includes(error.code);
      printError(`confere: ${describeFailure(error)}\n`);
      process.exitCode = wrongUse ? 2 : 1;
    }
  }
}

/** Creates the program with the named command only; with all commands where none is named. */
export async function createProgram(name: string, open: typeof withContext = withContext): Promise<Command> {
  const program = new Command('confere')
    .description(
      "receives a PIX provider's webhooks, keeps a ledger exact to the cent, proves it, and delivers callbacks and reports",
    )
    .version(VERSION)
    .exitOverride()
    .configureOutput({ writeErr: printError })
    .showHelpAfterError();
  const named = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  for (const load of named ? [named] : Object.values(COMMANDS)) (await load())(program, open);
  addKeyOption(program);
  program.command('demo').description('run all of Confere on this machine: confere demo --help');
  program.command('sandbox').description("the provider's own service, to develop against: confere sandbox --help");
  return program;
}

/** A name that is quoted can hold what a terminal obeys. */
function printError(text: string): void {
  process.stderr.write(showUnseen(text));
}

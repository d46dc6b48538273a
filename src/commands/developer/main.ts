#!/usr/bin/env node
/** The tool for merchants' developers, `confere-cli`: it imports nothing that needs the service or a database. */
import { Command, CommanderError } from 'commander';
import { ConfereError } from '../../domain/errors.ts';
import { VERSION } from '../../domain/version.ts';
import { listenCommand } from './listen.ts';
import { eventsCommand } from './trigger.ts';
import { verifyCommand } from './verify.ts';

const program = new Command('confere-cli')
  .description('get, verify and trigger the messages that Confere sends')
  .version(VERSION)
  .exitOverride()
  .showHelpAfterError();
for (const add of [listenCommand, verifyCommand, eventsCommand]) add(program);

try {
  await program.parseAsync(process.argv);
} catch (error) {
  const isWrongUse = error instanceof ConfereError && error.code === 'wrong_use';
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else {
    process.stderr.write(`confere-cli: ${(error as Error).message}\n`);
    process.exitCode = isWrongUse ? 2 : 1;
  }
}

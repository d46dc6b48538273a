/** Writes openapi.json and the help of each command into a directory: `npm run freeze` compares them before and after a change. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { createProgram } from '../src/commands/run-command-line.ts';
import { buildDocument } from '../src/http/openapi/build-document.ts';
import { CALLBACK_MESSAGES } from '../src/http/openapi/callback-messages.ts';
import { API_OPERATIONS } from '../src/http/openapi/operations.ts';

const [directory = '.'] = process.argv.slice(2);

const document = buildDocument(API_OPERATIONS, CALLBACK_MESSAGES, { version: 'any', url: 'http://127.0.0.1' });
writeFileSync(path.join(directory, 'openapi.json'), `${JSON.stringify(document, null, 1)}\n`);

function helpOf(command: Command): string[] {
  return [command.helpInformation(), ...command.commands.flatMap(helpOf)];
}
writeFileSync(path.join(directory, 'help.txt'), helpOf(await createProgram('')).join('\n\n'));

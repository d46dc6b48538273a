import { createWriteStream } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { OPERATIONS } from '../domain/statuses.ts';
import type { PresentedExpected } from '../expected/read/list-expected.ts';
import { COMMAND } from '../operations/define-change.ts';
import { cancelOne, matchOne, putOne, reopenOne, unmatchOne } from '../operations/expected/expected.ts';
import { renderExpectedCsv } from '../operations/expected/export-expected.ts';
import { expectedPayments } from '../operations/expected/read-expected.ts';
import { runImport } from './imports/imports.ts';
import { addFilters, changeCommand, listCommand, type Options } from './operation-commands.ts';
import { print, withContext } from './with-context.ts';

const BY_PAYMENT = {
  '--transaction-id <id>': 'the payment',
  '--note <text>': 'why',
} as const;

/** `confere expected …`: what somebody owes us, or we owe, and with which payments it is matched. */
export function expectedCommand(program: Command): void {
  const group = program
    .command('expected')
    .description('expected payments: which orders are paid, and by which payments');
  changeCommand(group, 'add', putOne, {
    description: 'expect a payment, or replace all facts of one',
    params: ['source', 'number'],
    options: {
      '--source <source>': 'whose number it is, such as shop',
      '--number <number>': 'its number there, such as an order’s',
      '--operation <operation>': OPERATIONS.join(', '),
      '--amount <amount>': 'such as 1234.56',
      '--due-day <day>': 'when it is due, YYYY-MM-DD',
      '--issued-day <day>': 'when it was issued (default: the day on which it first comes, if that is earlier)',
      '--valid-until <day>': 'until when it can be paid (default: the day when it is due)',
      '--platform <id>': 'the platform that is paid (default: any)',
      '--references <reference...>': 'the references that its payments may have',
      '--e2e-ids <id...>': 'the E2E ids of its payments',
      '--extra <text>': 'the extra of its payment',
      '--document <document>': 'the CPF or CNPJ that came with the charge',
      '--name <name>': 'whose it is',
      '--description <text>': 'what it is for',
      '--invoice-key <key>': 'the key of its invoice: 44 characters',
      '--revised-at <instant>': 'when the source changed it: an older arrival changes nothing',
    },
    say: describe,
  });
  listCommand(group, expectedPayments, {
    description: 'the newest expected payments',
    say: describe,
  });
  changeCommand(group, 'cancel <id>', cancelOne, { description: 'cancel an expected payment', say: describe });
  changeCommand(group, 'reopen <id>', reopenOne, {
    description: 'take a cancellation back',
    options: { '--note <text>': 'why' },
    say: describe,
  });
  changeCommand(group, 'match <id>', matchOne, {
    description: 'match a payment, or a part of it',
    options: { ...BY_PAYMENT, '--amount <amount>': 'a part of the payment (default: what is left of it)' },
    say: describe,
  });
  changeCommand(group, 'unmatch <id>', unmatchOne, {
    description: 'undo the matches with a payment: the rules keep the two apart',
    options: BY_PAYMENT,
    say: describe,
  });
  addFileCommands(group);
}

function addFileCommands(group: Command): void {
  group
    .command('import <file>')
    .description('import an XLSX or CSV of expected payments: confere import expected --template writes an empty one')
    .option('--dry-run', 'check the file and say what it would change')
    .option('--json', 'print one JSON object')
    .action((file: string, options: { dryRun?: boolean; json?: boolean }) => runImport('expected', file, options));
  const file = group.command('export').description('write expected payments as CSV');
  const readFilter = addFilters(file, expectedPayments);
  file
    .option('--out <file>', 'where to write it, - for standard output', '-')
    .option('--json', 'print one JSON object')
    .action(({ out, json, ...options }: Options & { out: string; json?: boolean }) => {
      const filter = readFilter(options);
      return withContext({}, async (context) => {
        const rows = Readable.from(renderExpectedCsv(context, { filter, caller: COMMAND }));
        if (out === '-') return await pipeline(rows, process.stdout, { end: false });
        await pipeline(rows, createWriteStream(out));
        print(json, { file: path.resolve(out) }, `wrote ${out}`);
      });
    });
}

function describe(row: Omit<PresentedExpected, 'seq'>): string {
  const matches = row.matches.map(({ transaction_id: id, amount, rule }) => `\n  ${id}  R$ ${amount}  by ${rule}`);
  return `${row.id}  ${row.source} ${row.number}  ${row.operation}  R$ ${row.amount}  due ${row.due_day}  ${row.state}  paid R$ ${row.paid}${matches.join('')}`;
}

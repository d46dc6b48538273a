import { runCommandLine } from './commands/run-command-line.ts';

// nothing that is written is for group or others: DATA_DIR holds keys, people's data and the books
process.umask(0o077);
await runCommandLine(process.argv.slice(2));

import { surviveClosedOutput } from './commands/closed-output.ts';
import { runCommandLine } from './commands/run-command-line.ts';

// files are for their owner only: DATA_DIR holds keys, personal data and the ledger
process.umask(0o077);
surviveClosedOutput();
await runCommandLine(process.argv.slice(2));

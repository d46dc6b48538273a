import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const CONFERE = fileURLToPath(new URL('../../bin/confere', import.meta.url));

/** Environment variables that a command inherits from the test. */
export const INHERITED_VARIABLES = ['PATH', 'HOME', 'LANG', 'TMPDIR'];

export type CommandResult = { code: number | null; out: string; err: string };

/** Runs `bin/confere` as a process until it exits, with this environment and INHERITED_VARIABLES only, without the file .env. */
export function runCommand(
  args: string[],
  env: Record<string, string> = {},
  program = CONFERE,
): Promise<CommandResult> {
  const inherited = Object.fromEntries(INHERITED_VARIABLES.map((key) => [key, process.env[key]]));
  const child = spawn(program, args, {
    env: { ...inherited, ENV_FILE: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const read = { out: '', err: '' };
  for (const [name, stream] of [['out', child.stdout] as const, ['err', child.stderr] as const]) {
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      read[name] += text;
    });
  }
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...read })));
}

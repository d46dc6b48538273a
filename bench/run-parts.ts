/** A long run: parts that run one after another, each as a process, and a table of the results. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** `args`: arguments of node, in the project's root. `missing`: what this machine lacks for the part, which is then skipped. */
export type Part = {
  name: string;
  args: string[];
  env?: Record<string, string>;
  missing?: string | undefined;
  seed?: number;
};
export type PartResult = { name: string; result: string; seconds: number; seeds: string };

/** @param signal stops the current part and starts no other. @returns the parts that ran or were skipped. */
export async function runParts(parts: Part[], signal: AbortSignal): Promise<PartResult[]> {
  const done: PartResult[] = [];
  for (const part of parts) {
    if (signal.aborted) break;
    done.push(await runPart(part, signal));
  }
  return done;
}

async function runPart(part: Part, signal: AbortSignal): Promise<PartResult> {
  const { name, seed } = part;
  if (part.missing) return { name, result: `skipped: ${part.missing}`, seconds: 0, seeds: '–' };
  process.stdout.write(`\n== ${name}\n`);
  const beganMs = performance.now();
  const seeded = seed === undefined ? {} : { TEST_DEEP: '1', TEST_SEED: String(seed) };
  const env = { ...part.env, ...process.env, ...seeded };
  const child = spawn(process.execPath, part.args, { cwd: ROOT, env, stdio: 'inherit' });
  const stop = (): boolean => child.kill();
  signal.addEventListener('abort', stop, { once: true });
  const code = await new Promise<number | null>((resolve) =>
    child.once('error', () => resolve(1)).once('exit', resolve),
  );
  signal.removeEventListener('abort', stop);
  const seconds = Math.round((performance.now() - beganMs) / 1000);
  const result = signal.aborted ? 'stopped' : code === 0 ? 'passed' : 'failed';
  return { name, result, seconds, seeds: seed === undefined ? '–' : `TEST_SEED=${seed}` };
}

/** Formats rows of the same columns as a Markdown table, with their names as the head. */
export function formatTable(rows: Record<string, string | number>[]): string {
  const cells = [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row).map(String))];
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const lines = cells.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`);
  lines.splice(1, 0, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`);
  return lines.join('\n');
}

/** Writes the package of the tool for merchants' developers into a folder, and has `npm pack` make one file of it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { collectTool } from '../../src/http/console/portal/collect-tool.ts';

const folder = path.join(import.meta.dirname, 'dist');
for (const [name, text] of collectTool()) {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}
process.stdout.write(execFileSync('npm', ['pack', '--pack-destination', import.meta.dirname, folder]));

/** Adds the files (`csv`) of other installations to one's own: one range of days, and each platform in one of them alone. */
import { createReadStream, createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { ConfereError } from '../../domain/errors.ts';
import { parseCsv } from '../../spreadsheet/parse-csv.ts';
import { STATEMENT_COLUMNS } from '../render/columns.ts';
import { LINE_END } from '../render/formats/write-csv.ts';
import type { Range } from './export-range.ts';

const [AT, PLATFORM] = (['at', 'platform'] as const).map((name) =>
  STATEMENT_COLUMNS.findIndex((one) => one.name === name),
);
const MOMENT = /^(\d\d)\/(\d\d)\/(\d{4}) /;

/**
 * Writes the rows of other files after those of `own`. Their columns are ours, balances are of their own installation.
 * @throws ConfereError `wrong_use`, before anything is written, for other columns (of another version or language), a day outside
 *   of the range, and a platform that two of the files have.
 */
export async function addExports(own: string, others: string[], range: Range): Promise<void> {
  const owners = new Map<string, string>();
  const starts: number[] = [];
  let header: string | undefined;
  for (const file of [own, ...others]) {
    const fault = (says: string) => new ConfereError('wrong_use', `${file} can't be added: ${says}`);
    let isFirst = true;
    for await (const record of readRecords(file)) {
      if (isFirst) {
        header ??= record;
        if (record !== header) throw fault('its columns are others: make it with this version, in the same --locale');
        starts.push(Buffer.byteLength(record + LINE_END));
        isFirst = false;
        continue;
      }
      const { at, platform } = readRow(record);
      if (at < range.from || at > range.to) throw fault(`it has a row of ${at}, outside of the range`);
      const owner = platform === '' ? file : (owners.get(platform) ?? file);
      if (owner !== file) throw fault(`${owner} has rows of its platform ${platform} too`);
      owners.set(platform, file);
    }
    if (isFirst) throw fault('it is empty');
  }
  for (const [index, file] of others.entries())
    await pipeline(createReadStream(file, { start: starts[index + 1] ?? 0 }), createWriteStream(own, { flags: 'a' }));
}

/** A quoted field may hold ends of lines. */
async function* readRecords(file: string): AsyncGenerator<string, void, undefined> {
  let record = '';
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    record = record === '' ? line : `${record}\n${line}`;
    if (record.split('"').length % 2 === 0) continue;
    yield record;
    record = '';
  }
  if (record !== '') yield record;
}

function readRow(record: string): { at: string; platform: string } {
  const [row] = parseCsv(record, ';');
  const textAt = (index = -1): string => {
    const cell = row?.cells[index];
    return cell?.kind === 'text' ? cell.text : '';
  };
  const [, day, month, year] = MOMENT.exec(textAt(AT)) ?? [];
  return { at: `${year}-${month}-${day}`, platform: textAt(PLATFORM) };
}

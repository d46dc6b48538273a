/**
 * Records what people and programs see, for `npm run freeze`: with FREEZE_TO set, a setup file of each test file. Each
 * problem and page that this process answers, and each audit row, is a line without what changes from run to run: ids,
 * instants, numbers. Lines are a sorted set in a file of the test's name, so that two records are compared by `diff`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { ServerResponse } from 'node:http';
import path from 'node:path';
import mysql from 'mysql2/promise';
import { afterAll, expect } from 'vitest';
import { listMadeDatabases, testServer } from './create-test-database.ts';

const RECORDED = /^(?:application\/problem\+json|text\/html)/;
const directory = process.env.FREEZE_TO;

if (directory !== undefined) {
  const lines = new Set<string>();
  // oxlint-disable-next-line typescript/unbound-method -- called with its response below
  const end = ServerResponse.prototype.end;
  ServerResponse.prototype.end = function record(this: ServerResponse, ...args: unknown[]) {
    const [body] = args;
    const isText = typeof body === 'string' || Buffer.isBuffer(body);
    if (isText && RECORDED.test(String(this.getHeader('content-type') ?? '')))
      for (const line of String(body).split('\n')) lines.add(`${this.statusCode} ${withoutValues(line)}`);
    return Reflect.apply(end, this, args);
  };

  afterAll(async () => {
    ServerResponse.prototype.end = end;
    for (const row of await readAudit()) lines.add(withoutValues(`audit ${row}`));
    if (lines.size === 0) return;
    const name = path.relative('test', expect.getState().testPath ?? 'unknown').replaceAll('/', '.');
    mkdirSync(directory, { recursive: true });
    writeFileSync(path.join(directory, `${name}.txt`), `${[...lines].sort().join('\n')}\n`);
  });
}

/** Replaces ids, digests, names of fonts and scripts with a digest, and numbers. */
function withoutValues(text: string): string {
  return text
    .replace(/(?<=form_token" value=")[^"]+/g, '{token}')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/gi, '{id}')
    .replace(/\b(\w{2,4})_[0-9a-zA-Z]{6,}/g, '$1_{id}')
    .replace(/\b[0-9a-f]{12,}\b/gi, '{hex}')
    .replace(/\d+/g, '#');
}

async function readAudit(): Promise<string[]> {
  const rows: string[] = [];
  for (const name of listMadeDatabases()) {
    const connection = await mysql.createConnection({ ...testServer(), database: name });
    try {
      const [found] = await connection.query<mysql.RowDataPacket[]>(
        'SELECT CAST(action AS CHAR) AS action, CAST(target AS CHAR) AS target, CAST(detail AS CHAR) AS detail FROM audit',
      );
      for (const { action, target, detail } of found) rows.push(JSON.stringify([action, target, detail]));
    } catch {
      // an empty database, or one of an earlier version, has no such table
    } finally {
      connection.destroy();
    }
  }
  return rows;
}

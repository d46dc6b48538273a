import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');

/** design.md's layers: a file imports its own folder and lower layers only; siblings never import each other. */
const LAYERS: Record<string, number> = {
  embedded: -1,
  'src/domain': 0,
  'src/config': 0,
  'src/log': 1,
  'src/timers': 1,
  'src/metrics': 1,
  'src/database': 2,
  'src/context': 3,
  'src/provider': 4,
  'src/merchants': 4,
  'src/callbacks': 4,
  'src/alerts': 4,
  'src/access': 4,
  'src/ledger': 5,
  'src/inbox': 6,
  'src/reconciliation': 6,
  'src/reports': 6,
  'src/http': 7,
  jobs: 8,
  'src/commands': 8,
  'src/main': 8,
};
const SIBLINGS_ALLOWED = [
  'src/config>src/domain',
  'src/callbacks>src/merchants',
  'src/commands>jobs',
  'src/main>src/commands',
];
const FILES_MIN = 120;

type Source = { file: string; room: string; text: string; imports: string[] };

function roomOf(file: string): string {
  if (file.startsWith('embedded/') || file.startsWith('jobs/') || file.startsWith('sandbox/'))
    return file.split('/')[0] ?? '';
  const [, second = ''] = file.split('/');
  // config-fields.ts is a part of the configuration
  return `src/${second.replace(/(-fields)?\.ts$/, '')}`;
}

function readSources(...folders: string[]): Source[] {
  return folders.flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => {
        const file = path.join(folder, name);
        const text = readFileSync(path.join(root, file), 'utf8');
        const imports = [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map((match) =>
          path.relative(root, path.resolve(root, path.dirname(file), match[1] ?? '')),
        );
        return { file, room: roomOf(file), text, imports };
      }),
  );
}

const sources = readSources('src', 'jobs', 'embedded');
const sandbox = readSources('sandbox');

describe('the house', () => {
  it('is read whole, and every room in it is known', () => {
    expect(sources.length).toBeGreaterThan(FILES_MIN);
    expect([...new Set(sources.map((source) => source.room))].filter((room) => !(room in LAYERS))).toEqual([]);
  });

  it('imports only its own folder and lower layers', () => {
    const wrong = sources.flatMap((source) =>
      source.imports
        .map((target) => roomOf(target))
        .filter((room) => room !== source.room && !SIBLINGS_ALLOWED.includes(`${source.room}>${room}`))
        .filter((room) => (LAYERS[room] ?? 99) >= (LAYERS[source.room] ?? -1))
        .map((room) => `${source.file} imports ${room}`),
    );
    expect(wrong).toEqual([]);
  });

  it('keeps the sandbox and the product apart', () => {
    expect(sandbox.length).toBeGreaterThan(10);
    const wrong = [
      ...sandbox.filter((source) => source.imports.some((target) => /^(src|jobs)\//.test(target))),
      ...sources.filter((source) => source.imports.some((target) => target.startsWith('sandbox/'))),
    ];
    expect(wrong.map((source) => source.file)).toEqual([]);
  });

  it('reads the environment in config.ts alone', () => {
    const readers = sources.filter((source) => source.text.includes('process.env')).map((source) => source.file);
    // commands hand the environment to config.ts; the demo's programs inherit PATH and the like; embedded looks for
    // binaries and the run directory of the machine
    const handers = /^src\/commands\/|^embedded\//;
    expect(readers.filter((file) => file !== 'src/config.ts' && !handers.test(file))).toEqual([]);
  });

  it('writes the ledger in src/ledger alone', () => {
    const tables =
      'transactions|parties|events|entries|postings|accounts|openings|adjustments|statements|mismatches|mismatch_changes|fact_changes|refused_rows|seals|seal_stragglers|sealing|balance_spans|corrections|event_standings|event_places|histories_to_mend|doubted_events|doubted_statuses|commission_contracts|mismatch_causes';
    const write = new RegExp(`(insertInto|updateTable|deleteFrom|replaceInto)\\('(${tables})'\\)`);
    const writers = sources.filter((source) => write.test(source.text)).map((source) => source.room);
    expect(new Set(writers)).toEqual(new Set(['src/ledger']));
  });

  it('has the one writer of transactions and events called apply', () => {
    const write = /(insertInto|updateTable|deleteFrom|replaceInto)\('(transactions|events)'\)/;
    const writers = sources.filter((source) => write.test(source.text)).map((source) => source.file);
    // what a person had forgotten is no event and no fact of the books: digests and extras that name them
    expect(writers.sort()).toEqual(['src/ledger/erase-person.ts', 'src/ledger/write-transactions.ts']);
    const callers = sources.filter((source) => source.imports.includes('src/ledger/write-transactions.ts'));
    // beside looks, a person, and what an upgrade corrects once: all are written by the same hand
    expect(callers.map((source) => source.file).sort()).toEqual([
      'src/ledger/accept-mismatch.ts',
      'src/ledger/apply.ts',
      'src/ledger/mend-histories.ts',
    ]);
  });

  it('writes the outbox where it is enqueued: callbacks by what causes them or by a test, alerts by raise', () => {
    const writersOf = (table: string) =>
      sources.filter((source) => source.text.includes(`insertInto('${table}')`)).map((source) => source.file);
    expect(writersOf('callbacks').sort()).toEqual(['src/callbacks/enqueue.ts', 'src/callbacks/send-test.ts']);
    expect(writersOf('alerts')).toEqual(['src/alerts/raise.ts']);
  });
});

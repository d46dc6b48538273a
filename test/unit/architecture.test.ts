import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');

/** The rooms and their layers, as the table of docs/architecture.md has them. */
const LAYERS = readLayers();

function readLayers(): Record<string, number> {
  const rows = readFileSync(path.join(root, 'docs/architecture.md'), 'utf8').matchAll(/^\| (-?[\d.]+) \| ([^|]+) \|/gm);
  return Object.fromEntries(
    [...rows].flatMap(([, layer = '', rooms = '']) =>
      [...rooms.matchAll(/`([^`]+)`/g)].map(([, room = '']) => [room.replace(/\.ts$/, ''), Number(layer)] as const),
    ),
  );
}

const SIBLINGS_ALLOWED = [
  'src/config>src/domain',
  'src/log>src/tracing',
  'src/callbacks>src/merchants',
  'src/callbacks>src/access',
  'src/commands>jobs',
  'src/main>src/commands',
];
/** Rooms within a room stand in the order of the flow: a file imports its own folder, and folders before it. */
const INNER: Record<string, string[]> = {
  'src/domain': ['language', 'person'],
  'src/database': ['tables', 'keys', 'open', 'shared'],
  'src/provider': ['list'],
  'src/texts': ['console', 'alerts', 'reports'],
  'src/alerts': ['channels', 'read'],
  'src/callbacks': ['health', 'render', 'queue', 'expected', 'backfill', 'deliver', 'manage'],
  'src/ledger': ['decide', 'journal', 'apply', 'correct', 'stated', 'bank', 'read'],
  'src/inbox': ['spool', 'receive', 'items', 'split', 'verify', 'silence', 'manage'],
  'src/reconciliation': ['windows', 'numbers', 'watches', 'runs'],
  'src/reports': ['xlsx', 'plan', 'read', 'orders', 'render', 'readback', 'revisions', 'serve', 'months'],
  'src/expected': ['decide', 'follow', 'read'],
  'src/operations': ['rows', 'figures', 'books', 'expected', 'merchants', 'access'],
  'src/http': ['connections', 'access', 'receiver', 'api', 'openapi', 'mcp', 'console'],
  'src/http/console': [
    'parts',
    'forms',
    'charts',
    'access',
    'system',
    'balances',
    'bank',
    'imports',
    'mismatches',
    'expected',
    'alerts',
    'runs',
    'webhooks',
    'merchants',
    'reports',
    'fees',
    'months',
    'transactions',
    'overview',
    'portal',
  ],
  'src/http/api': ['merchants', 'imports'],
  'src/commands': [
    'serve',
    'init',
    'forget',
    'imports',
    'inbox',
    'books',
    'merchants',
    'access',
    'developer',
    'backup',
  ],
};
/** Which room writes a table; src/privacy erases from all. */
const TABLES: Record<string, string> = {
  'src/ledger':
    'transactions|parties|events|entries|postings|accounts|openings|adjustments|statements|fact_changes|refused_rows|corrections|event_standings|event_places|doubted_events|doubted_statuses|commission_contracts|platform_names|account_maps|bank_accounts|bank_statements|bank_lines|bank_line_texts|bank_matches|bank_match_notes',
  'src/mismatches': 'mismatches|mismatch_changes|mismatch_causes',
  'src/expected':
    'expected_payments|expected_versions|expected_texts|expected_keys|expected_cancellations|expected_matches|expected_notes|expected_changes|expected_candidates|expected_starts',
  'src/access': 'idempotency_keys|idempotency_results',
  'src/reports': 'reports|month_closes',
  'src/backup': 'restores',
  'src/manifests': 'day_manifests|due_day_manifests',
  'src/seal': 'seals|seal_stragglers|sealing|balance_spans|refund_spans',
  'src/tlog': 'log_hashes|log_queue|log_origins|log_checkpoints|log_cosignatures|log_witnesses',
  'src/proof': 'books_checks',
};
const FILES_MIN = 120;
const FILES_A_FOLDER_MAX = 20;

type Source = { file: string; room: string; text: string; imports: string[] };

function roomOf(file: string): string {
  if (file.startsWith('embedded/') || file.startsWith('jobs/') || file.startsWith('sandbox/'))
    return file.split('/')[0] ?? '';
  const [, second = ''] = file.split('/');
  return `src/${second.replace(/\.ts$/, '')}`;
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
const demo = readSources('demo');

describe('the code', () => {
  it('is read whole, and every room in it is known', () => {
    expect(sources.length).toBeGreaterThan(FILES_MIN);
    expect([...new Set(sources.map((source) => source.room))].filter((room) => !(room in LAYERS))).toEqual([]);
  });

  it('imports only its own room and lower layers', () => {
    const wrong = sources.flatMap((source) =>
      source.imports
        .map((target) => roomOf(target))
        .filter((room) => room !== source.room && !SIBLINGS_ALLOWED.includes(`${source.room}>${room}`))
        .filter((room) => (LAYERS[room] ?? 99) >= (LAYERS[source.room] ?? -1))
        .map((room) => `${source.file} imports ${room}`),
    );
    expect(wrong).toEqual([]);
  });

  it('has rooms within rooms that import those before them alone', () => {
    const folders = new Set(sources.map((source) => path.dirname(source.file)));
    for (const [room, inner] of Object.entries(INNER)) {
      for (const name of inner) expect(folders, `${room}/${name} is gone`).toContain(`${room}/${name}`);
      const found = [...folders].filter((folder) => path.dirname(folder) === room);
      expect(found.filter((folder) => !inner.includes(path.basename(folder)))).toEqual([]);
    }
    const wrong = sources.flatMap((source) =>
      source.imports.filter((target) => {
        const [from, to] = [source.file.split('/'), target.split('/')];
        const level = from.findIndex((part, index) => part !== to[index]);
        const order = INNER[from.slice(0, level).join('/')] ?? [];
        const [own, other] = [order.indexOf(from[level] ?? ''), order.indexOf(to[level] ?? '')];
        return own >= 0 && other > own;
      }),
    );
    expect(wrong).toEqual([]);
  });

  it('has no folder of more files than a reader can hold', () => {
    const counts = new Map<string, number>();
    for (const { file } of [...sources, ...sandbox, ...demo])
      counts.set(path.dirname(file), (counts.get(path.dirname(file)) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > FILES_A_FOLDER_MAX)).toEqual([]);
  });

  it('keeps the sandbox, the demo and the product apart', () => {
    expect(sandbox.length).toBeGreaterThan(10);
    const wrong = [
      ...sandbox.filter((source) => source.imports.some((target) => /^(src|jobs|demo)\//.test(target))),
      ...demo.filter((source) => source.imports.some((target) => !/^(demo|embedded|src\/domain)\//.test(target))),
      ...sources.filter((source) => source.imports.some((target) => /^(sandbox|demo)\//.test(target))),
    ];
    expect(wrong.map((source) => source.file)).toEqual([]);
  });

  it('reads the environment in config.ts alone', () => {
    const readers = sources.filter((source) => source.text.includes('process.env')).map((source) => source.file);
    // the OpenTelemetry exporter reads OTEL_ variables itself (headers, certificates, resource), once config.ts turned it on
    // commands hand the environment to config.ts; the demo's programs inherit PATH and the like; embedded looks for
    // binaries and the run directory of the machine
    const handers = /^src\/commands\/|^embedded\//;
    expect(readers.filter((file) => file !== 'src/config.ts' && !handers.test(file))).toEqual([]);
  });

  it('starts no program with its own environment, which has secrets', () => {
    const starters = [...sources, ...demo].filter(({ text }) => /from 'node:child_process'/.test(text));
    expect(starters.length).toBeGreaterThan(3);
    const careless = starters.filter(
      ({ text }) => !/\bchildEnvironment\(/.test(text) || /process\.env\b(?!\.)/.test(text),
    );
    expect(careless.map(({ file }) => file)).toEqual(['demo/take-screenshots.ts']);
  });

  it('gives routes and pages of the portal no database, but the scope of one merchant', () => {
    const PORTAL =
      /^src\/http\/(?:console\/portal\/|api\/merchants\/portal\.ts)|^src\/operations\/merchants\/portal\.ts$/;
    /** The router, what opens sessions, links and orders, and what makes forms: they pass the context on. */
    const OPENERS =
      /^src\/http\/console\/portal\/(?:routes|portal-form|own-orders|show-portal-login|confirm-link)\.ts$/;
    const own = sources.filter(({ file }) => PORTAL.test(file));
    expect(own.length).toBeGreaterThan(8);
    const pages = own.filter(({ file }) => !OPENERS.test(file));
    const opening = pages.filter(({ imports }) =>
      imports.some((target) => /^src\/(?:context\.ts|database\/|portal\/own)/.test(target)),
    );
    expect(opening.map(({ file }) => file)).toEqual([]);
    const reading = own.filter(({ text }) => /\.db\b|\bContext, 'db'/.test(text));
    expect(reading.map(({ file }) => file)).toEqual([]);
    // a scope is opened by a token or a session of its merchant, and nowhere else
    const openers = sources.filter(({ text }) => /\bfindScopeBy(?:Token|Session)\b/.test(text));
    expect(openers.map(({ file }) => file).sort()).toEqual([
      'src/http/access/require-scope.ts',
      'src/http/console/portal/routes.ts',
      'src/portal/open-scope.ts',
    ]);
  });

  it('makes what people change by src/operations, which declare it', () => {
    const doors = sources.filter(
      ({ file, text }) => /^src\/(?:http|commands)\//.test(file) && /\baudit(?:Change|ChangeOnce|Parts)\(/.test(text),
    );
    expect(doors.map(({ file }) => file).sort()).toEqual([
      // the erasure of a person, in parts, by the command alone
      'src/commands/forget/forget.ts',
      // writes a file of the key before its transaction, and puts it into force after
      'src/commands/rotate-key.ts',
      // log-ins: nobody with a role asks for one
      'src/http/console/access/log-in-by-issuer.ts',
      'src/http/console/access/show-login.ts',
      // a month is prepared outside the transaction that closes it once for the key of its form
      'src/http/console/months/month-forms.ts',
      'src/http/console/portal/show-portal-login.ts',
    ]);
  });

  it('writes each table of the books in its room alone', () => {
    for (const [room, tables] of Object.entries(TABLES)) {
      const write = writesTo(tables);
      const writers = sources.filter((source) => write.test(source.text)).map((source) => source.room);
      expect(new Set(writers.filter((one) => one !== 'src/privacy')), tables).toEqual(new Set([room]));
    }
  });

  it('has the one writer of transactions and events called apply', () => {
    const write = writesTo('transactions|events');
    const writers = sources.filter((source) => write.test(source.text)).map((source) => source.file);
    // the personal data of a forgotten person is no event and no fact of the books: digests and extras that contain it
    expect(writers.sort()).toEqual(['src/ledger/apply/write-transactions.ts', 'src/privacy/erase-from-ledger.ts']);
    const callers = sources.filter((source) => source.imports.includes('src/ledger/apply/write-transactions.ts'));
    // beside observations: a person's decision
    expect(callers.map((source) => source.file).sort()).toEqual([
      'src/ledger/apply/apply-observations.ts',
      'src/ledger/correct/accept-mismatch.ts',
    ]);
  });

  it('has one file that writes entries, called by the ledger alone', () => {
    const write = writesTo('entries|postings');
    const entries = 'src/ledger/journal/write-entries.ts';
    expect(sources.filter((source) => write.test(source.text)).map((source) => source.file)).toEqual([entries]);
    const callers = sources.filter((source) => source.imports.includes(entries));
    expect(callers.map((source) => source.file).sort()).toEqual([
      'src/ledger/apply/apply-observations.ts',
      // a type alone
      'src/ledger/apply/write-history-change.ts',
      'src/ledger/correct/accept-mismatch.ts',
      'src/ledger/stated/adjust-books.ts',
      'src/ledger/stated/repost-transactions.ts',
      'src/ledger/stated/state-opening.ts',
    ]);
  });

  it('writes the outbox where it is enqueued: callbacks by what causes them or by a test, alerts by raise', () => {
    const writersOf = (table: string) =>
      sources.filter((source) => insertsInto(table).test(source.text)).map((source) => source.file);
    expect(writersOf('callbacks').sort()).toEqual([
      'src/callbacks/manage/send-test.ts',
      'src/callbacks/queue/enqueue-callbacks.ts',
    ]);
    expect(writersOf('alerts')).toEqual(['src/alerts/raise-alerts.ts']);
  });
});

/** @param tables their names, separated by |. */
function insertsInto(tables: string): RegExp {
  return new RegExp(`insertInto\\('(${tables})'\\)|insertRows\\(\\s*\\w+,\\s*'(${tables})',`);
}

function writesTo(tables: string): RegExp {
  return new RegExp(`(updateTable|deleteFrom|replaceInto)\\('(${tables})'\\)|${insertsInto(tables).source}`);
}

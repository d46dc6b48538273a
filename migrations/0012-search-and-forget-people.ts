import { type Kysely, sql } from 'kysely';

/**
 * What the search for transactions stands on, and what is left of a person who was forgotten.
 *
 * Every index of the search ends in the wall clock that its pages are ordered by, and InnoDB adds `seq`: a page is read
 * from its first row on, whatever number of rows share a reference, an extra or a document.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [column, definition] of PARTY_COLUMNS) await addColumn(db, 'parties', column, definition);
  await addColumn(db, 'webhooks', 'redacted_at', "DATETIME(3) NULL COMMENT 'a person in it was forgotten'");
  await addColumn(db, 'reports', 'redacted_at', "DATETIME(3) NULL COMMENT 'files deleted: a person was forgotten'");
  await addColumn(db, 'merchant_secrets', 'key_id', "VARBINARY(16) NULL COMMENT 'of the SECRET_KEY it is sealed with'");
  await changeKeys(db, 'parties', { add: PARTY_KEYS });
  await changeKeys(db, 'transactions', { add: TRANSACTION_KEYS, drop: TRANSACTION_KEYS_REPLACED });
  await changeKeys(db, 'audit', { add: { audit_actor: 'actor, action, at' } });

  await sql`CREATE TABLE IF NOT EXISTS forgotten_people (
    document_hash BINARY(32) NOT NULL PRIMARY KEY COMMENT 'HMAC-SHA256 of the document, by the search key',
    forgotten_at DATETIME(3) NOT NULL,
    finished_at DATETIME(3) NULL COMMENT 'NULL: not all places are done yet',
    sealed_values MEDIUMBLOB NULL COMMENT 'what is looked for, encrypted; only until it is finished'
  ) ENGINE=InnoDB`.execute(db);
}

const PARTY_COLUMNS = [
  ['document_hash', "BINARY(32) NULL COMMENT 'HMAC-SHA256 of the document, by the search key; stays when forgotten'"],
  ['name_folded', "VARBINARY(128) NULL COMMENT 'without case and accents, cut off: for the search by prefix'"],
  [
    'created_wall',
    "CHAR(19) CHARACTER SET ascii COLLATE ascii_bin NULL COMMENT 'the transaction''s; NULL: not indexed yet'",
  ],
  ['forgotten_at', 'DATETIME(3) NULL'],
] as const;

const PARTY_KEYS = { parties_document: 'document_hash, created_wall', parties_name: 'name_folded' };

const TRANSACTION_KEYS = {
  transactions_created_day: 'created_wall',
  transactions_status_day: 'status_wall',
  transactions_status_moved: 'status, status_wall',
  transactions_operation: 'operation, created_wall',
  transactions_amount: 'amount_cents, created_wall',
  transactions_reference_day: 'reference, created_wall',
  transactions_extra_day: 'extra_hash, created_wall',
  transactions_e2e_day: 'e2e_id, created_wall',
};

const TRANSACTION_KEYS_REPLACED = [
  'transactions_created',
  'transactions_status_wall',
  'transactions_reference',
  'transactions_extra',
  'transactions_e2e',
];

/** ADD COLUMN IF NOT EXISTS is MariaDB's alone. */
async function addColumn(db: Kysely<unknown>, table: string, column: string, definition: string): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = ${table} AND column_name = ${column}`.execute(db);
  if (rows.length > 0) return;
  await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN ${sql.ref(column)} ${sql.raw(definition)}`.execute(db);
}

/** All that is missing, and all that is to go, in one pass over the table. */
async function changeKeys(
  db: Kysely<unknown>,
  table: string,
  { add, drop = [] }: { add: Record<string, string>; drop?: string[] },
): Promise<void> {
  const { rows } = await sql<{ name: string }>`SELECT DISTINCT index_name AS name FROM information_schema.statistics
    WHERE table_schema = DATABASE() AND table_name = ${table}`.execute(db);
  const there = new Set(rows.map((row) => row.name));
  const clauses = [
    ...Object.entries(add)
      .filter(([name]) => !there.has(name))
      .map(([name, columns]) => `ADD KEY ${name} (${columns})`),
    ...drop.filter((name) => there.has(name)).map((name) => `DROP KEY ${name}`),
  ];
  if (clauses.length > 0) await sql`ALTER TABLE ${sql.table(table)} ${sql.raw(clauses.join(', '))}`.execute(db);
}

import type { Api } from './start-programs.ts';

type Row = Record<string, unknown>;

const FIELDS = [
  'operation',
  'status',
  'amount',
  'commission',
  'reference',
  'extra',
  'platform',
  'e2e_id',
  'pix_key',
  'name',
  'email',
  'phone',
  'document',
  'description',
] as const;

/** Compares our ledger with the provider's list, field by field. @returns the counts of both and the differences. */
export async function compareLedger(
  app: Api,
  sandbox: Api,
  days: { from: string; to: string },
): Promise<{ ours: number; theirs: number; events: number; differences: string[] }> {
  const theirs = await readTheirs(sandbox, days);
  const ours = await readOurs(app, days);
  const differences: string[] = [];
  let events = 0;
  for (const [id, shown] of theirs) {
    events += (shown.events as unknown[]).length;
    const stored = ours.get(id);
    if (!stored) {
      differences.push(`${id} is not in the ledger`);
      continue;
    }
    for (const field of FIELDS) {
      if (text(stored[field]) !== text(shown[field])) differences.push(`${id}: ${field}`);
    }
    const [newest] = shown.events as { date_created: string }[];
    if (wallOf(stored.created_at) !== shown.date_created) differences.push(`${id}: created_at`);
    if (wallOf(stored.status_at) !== newest?.date_created) differences.push(`${id}: status_at`);
  }
  for (const id of ours.keys()) if (!theirs.has(id)) differences.push(`${id} is not at the provider`);
  return { ours: ours.size, theirs: theirs.size, events, differences };
}

/** Reads what the provider lists of these days, by id. */
export async function readTheirs(sandbox: Api, days: { from: string; to: string }): Promise<Map<string, Row>> {
  const rows = new Map<string, Row>();
  for (let page = 1, last = 1; page <= last; page++) {
    const query = `initial_date=${days.from}&final_date=${days.to}&page=${page}`;
    const answer = await sandbox.call<{ transactions: Row[]; last_page: number }>(
      'GET',
      `/api/v1/transactions?${query}`,
    );
    last = answer.last_page;
    for (const row of answer.transactions) rows.set(String(row.id), row);
  }
  return rows;
}

async function readOurs(app: Api, days: { from: string; to: string }): Promise<Map<string, Row>> {
  const rows = new Map<string, Row>();
  let cursor: string | null = '';
  while (cursor !== null) {
    const query = `from=${days.from}&to=${days.to}&limit=200${cursor ? `&cursor=${cursor}` : ''}`;
    const answer: { transactions: Row[]; next_cursor: string | null } = await app.call('GET', `/transactions?${query}`);
    for (const row of answer.transactions) rows.set(String(row.id), row);
    cursor = answer.next_cursor;
  }
  return rows;
}

/** Absent, null and empty compare as equal. */
function text(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function wallOf(iso: unknown): string {
  return String(iso).slice(0, 19).replace('T', ' ');
}

import type { Context } from '../../context.ts';

const LEARN_EVERY_MS = 60_000;
/** Newest transactions to check. A provider that changes its spelling is asked in both until this many are new. */
const PEEK_ROWS = 20;

export type IdSpellings = {
  /** @returns an id in the spellings that the provider may know, the likeliest first; nearly always one. */
  list(id: string): Promise<string[]>;
};

/**
 * Learns how the provider spells its ids: one that writes them in upper case may know them in no other spelling. For an
 * unknown id each spelling costs a request, so only spellings seen in its rows are tried; lower case until the first
 * row.
 */
export function createIdSpellings({ db, timers }: Pick<Context, 'db' | 'timers'>): IdSpellings {
  let spells: ((id: string) => string)[] = [];
  let learntAtMs = Number.NEGATIVE_INFINITY;

  async function learn(): Promise<void> {
    learntAtMs = timers.monotonicMs();
    const rows = await db.selectFrom('transactions').select('id').orderBy('seq', 'desc').limit(PEEK_ROWS).execute();
    const upper = rows.filter(({ id }) => /[A-Z]/.test(id)).length;
    const lower = rows.length - upper;
    const both = [
      { seen: lower, spell: (id: string) => id },
      { seen: upper, spell: (id: string) => id.toUpperCase() },
    ];
    spells = both
      .filter(({ seen }) => seen > 0)
      .sort((a, b) => b.seen - a.seen)
      .map(({ spell }) => spell);
  }

  return {
    async list(id) {
      const isUnknown = spells.length === 0;
      if (isUnknown || timers.monotonicMs() - learntAtMs >= LEARN_EVERY_MS) await learn();
      return spells.length === 0 ? [id] : [...new Set(spells.map((spell) => spell(id)))];
    },
  };
}

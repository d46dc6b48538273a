import type { Context } from '../../context.ts';

const LEARN_EVERY_MS = 60_000;
/** Of the newest transactions: a provider that changes its spelling is asked in both until so many are new. */
const PEEK_ROWS = 20;

export type IdSpellings = {
  /** @returns an id in the spellings in which the provider may know it, the likeliest first; nearly always one. */
  list(id: string): Promise<string[]>;
};

/**
 * How the provider writes its ids: one that writes them in upper case may know them in no other. Each spelling costs a
 * request for an id that the provider does not know, so only those that its rows were seen with are asked for; lower case
 * until the first row.
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

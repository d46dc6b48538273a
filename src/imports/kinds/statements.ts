import { findEqualStatements, readNewestStatement } from '../../ledger/stated/find-equal-statements.ts';
import { compareStatements, type Statement, storeStatement } from '../../ledger/stated/state-balance.ts';
import { momentColumn, moneyColumn } from '../columns.ts';
import { defineTable } from '../define-table.ts';
import { NEW_PLATFORM_COLUMN, PLATFORM_COLUMN } from './shared-columns.ts';

type Stated = Pick<Statement, 'platform' | 'balanceCents' | 'newPlatform'> & { atWall: string };

/** Balances that people read from the provider's panel. */
export const STATEMENTS = defineTable({
  titles: { 'pt-BR': 'Saldos informados', en: 'Stated balances' },
  roles: ['operator', 'accountant'],
  columns: {
    platform: PLATFORM_COLUMN,
    at: momentColumn({
      titles: { 'pt-BR': 'instante', en: 'instant' },
      isRequired: true,
      example: '2026-11-20 18:00:00',
    }),
    balance: moneyColumn({ titles: { 'pt-BR': 'saldo', en: 'balance' }, isRequired: true, example: '1234.56' }),
    new_platform: NEW_PLATFORM_COLUMN,
  },
  toValue({ platform, at, balance, new_platform }) {
    if (platform === null || at === null || balance === null) return undefined;
    return { value: { platform, atWall: at, balanceCents: balance, newPlatform: new_platform ?? false } };
  },
  columnOf: { platform: 'platform', at: 'at' },
  async applyRow(inner, { atWall, ...stated }: Stated, { actor }) {
    await storeStatement(inner, { ...stated, at: inner.calendar.toInstant(atWall), actor });
    return true;
  },
  compare: {
    readBasis: async (db) => String(await readNewestStatement(db)),
    async findEqual(db, rows) {
      const found = await findEqualStatements(
        db,
        rows.map(({ value }) => value),
      );
      return rows.flatMap(({ number: row }, index) => {
        const stated = found[index];
        return stated ? [{ row, id: stated.id, note: null, at: stated.created_at, by: stated.actor }] : [];
      });
    },
  },
  finish: compareStatements,
});

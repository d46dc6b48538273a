import { NOTE_CHARS_MAX } from '../../access/check-note.ts';
import { type Adjustment, adjustBooks } from '../../ledger/stated/adjust-books.ts';
import { BANK_ACCOUNT_CHARS_MAX } from '../../ledger/stated/bank-accounts.ts';
import { findEqualAdjustments, readNewestAdjustment } from '../../ledger/stated/find-equal-adjustments.ts';
import { compareStatements } from '../../ledger/stated/state-balance.ts';
import { choiceColumn, dayColumn, moneyColumn, textColumn } from '../columns.ts';
import { defineTable } from '../define-table.ts';
import { NEW_PLATFORM_COLUMN, PLATFORM_COLUMN } from './shared-columns.ts';

/** Movements that the provider's list does not show. */
export const ADJUSTMENTS = defineTable({
  titles: { 'pt-BR': 'Ajustes', en: 'Adjustments' },
  roles: ['accountant'],
  columns: {
    platform: PLATFORM_COLUMN,
    day: dayColumn({ titles: { 'pt-BR': 'dia', en: 'day' }, isRequired: true, example: '2026-11-20' }),
    kind: choiceColumn({
      titles: { 'pt-BR': 'tipo', en: 'kind' },
      isRequired: true,
      words: {
        bank: { 'pt-BR': 'banco', en: 'bank' },
        fee: { 'pt-BR': 'tarifa', en: 'fee' },
        block: { 'pt-BR': 'bloqueio', en: 'block' },
        other: { 'pt-BR': 'outro', en: 'other' },
      },
      example: 'tarifa',
    }),
    amount: moneyColumn({ titles: { 'pt-BR': 'valor', en: 'amount' }, isRequired: true, example: '-12.34' }),
    note: textColumn({
      titles: { 'pt-BR': 'observação', en: 'note' },
      isRequired: true,
      charsMax: NOTE_CHARS_MAX,
      example: 'tarifa de novembro',
    }),
    bank_account: textColumn({
      titles: { 'pt-BR': 'conta no banco', en: 'bank account' },
      charsMax: BANK_ACCOUNT_CHARS_MAX,
      example: '',
    }),
    new_platform: NEW_PLATFORM_COLUMN,
  },
  toValue({ platform, day, kind, amount, note, bank_account: bankAccount, new_platform }) {
    if (platform === null || day === null || kind === null || amount === null || note === null) return undefined;
    if (amount === 0n) return { fault: { column: 'amount', kind: 'zero' } };
    return {
      value: { platform, day, kind, amountCents: amount, note, bankAccount, newPlatform: new_platform ?? false },
    };
  },
  columnOf: { platform: 'platform', day: 'day', bank_account: 'bank_account' },
  async applyRow(inner, adjustment: Omit<Adjustment, 'actor'>, { actor }) {
    await adjustBooks(inner, { ...adjustment, actor });
    return true;
  },
  compare: {
    readBasis: async (db) => String(await readNewestAdjustment(db)),
    async findEqual(db, rows) {
      const values = rows.map(({ value }) => value);
      const found = await findEqualAdjustments(db, values);
      return rows.flatMap(({ number: row }, index) => {
        const booked = found[index];
        return booked ? [{ row, id: booked.id, note: booked.note, at: booked.created_at, by: booked.actor }] : [];
      });
    },
  },
  finish: compareStatements,
});

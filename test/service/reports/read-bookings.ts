import { readFile } from 'node:fs/promises';
import { LEDGER_ACCOUNTS } from '../../../src/ledger/stated/check-accounts.ts';

const BALANCE_CODE = '1.1';

/** An account map in which the accounts of the balance are one account. */
export const BOOKING_MAP = LEDGER_ACCOUNTS.map((account, index) => ({
  ...{ account, platform: null, category: account, cost_center: null, history: null },
  code: /^Assets:Provider:(Available|Held)$/.test(account) ? BALANCE_CODE : `9.${index}`,
}));

export const BOOKING_FORMATS = ['lancamentos', 'calima', 'conta-azul'] as const;

/** Reads a file that was made with BOOKING_MAP. @returns its rows, and the cents by which they move the balance. */
export async function readBookings(file: string, format: (typeof BOOKING_FORMATS)[number]) {
  const encoding = format === 'calima' ? 'windows-1252' : 'utf-8';
  const [, ...rows] = new TextDecoder(encoding)
    .decode(await readFile(file))
    .trim()
    .split('\r\n');
  let moved = 0n;
  for (const cells of rows.map((row) => row.split(';'))) {
    const [value, debit, credit] =
      format === 'lancamentos'
        ? [cells[3], cells[1], cells[2]]
        : format === 'calima'
          ? [cells[1], cells[2], cells[3]]
          : [cells[5]];
    const cents = BigInt((value ?? '').replace(',', ''));
    if (format === 'conta-azul') moved += cents;
    else moved += (debit === BALANCE_CODE ? cents : 0n) - (credit === BALANCE_CODE ? cents : 0n);
  }
  return { rows, moved };
}

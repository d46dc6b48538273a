import type { Response } from 'express';
import type { Context } from '../../../context.ts';
import { addDays, boundsOfMonth } from '../../../domain/calendar.ts';
import { presentPlatform } from '../../../operations/mask-texts.ts';
import type { ShownMonth } from '../../../reports/months/list-months.ts';
import type { MonthBalance } from '../../../seal/digest-month.ts';
import { getCaller } from '../../access/authorize.ts';
import { EMPTY_VALUE, money } from '../parts/format.ts';
import type { Html } from '../parts/html.ts';
import { table } from '../parts/page-components.ts';
import { type PlatformBalance, readPlatformBalances, sumByPlatform } from '../parts/read-platform-balances.ts';
import { type PlatformNames, showPlatform } from '../parts/read-platform-names.ts';

/** A platform's month, in cents: available and held. `now` is the closing balance as the ledger knows it now. */
export type PlatformMonth = { platform: string; opening: bigint; closing: bigint; held: bigint; now: bigint };

/** Reads a month's balances by platform, and, of a closed month, its closing balance as the ledger knows it now. */
export async function readPlatformMonths(
  context: Context,
  { month, balances, close }: Pick<ShownMonth, 'month' | 'balances' | 'close'>,
): Promise<PlatformMonth[]> {
  const sumUp = (centsOf: (one: MonthBalance) => bigint): PlatformBalance[] =>
    sumByPlatform(balances.map((one) => ({ account: one.account, cents: centsOf(one) })));
  const [opening, closing] = [sumUp((one) => one.openingCents), sumUp((one) => one.closingCents)];
  const end = `${addDays(boundsOfMonth(month).to, 1)} 00:00:00`;
  const now = close ? await readPlatformBalances(context, end) : closing;
  const platforms = new Set([...opening, ...now].map(({ platform }) => platform));
  return [...platforms].sort().map((platform) => ({
    ...{ platform, opening: sumOf(opening, platform), closing: sumOf(closing, platform) },
    ...{ held: closing.find((one) => one.platform === platform)?.heldCents ?? 0n, now: sumOf(now, platform) },
  }));
}

function sumOf(balances: PlatformBalance[], platform: string): bigint {
  const found = balances.find((one) => one.platform === platform);
  return found ? found.availableCents + found.heldCents : 0n;
}

/**
 * @param isClosed shows what changed since, beside the balances that were fixed. @param isRunning the month's end has not come:
 * the balances are those of now.
 */
export function platformMonthTable(
  response: Response,
  names: PlatformNames,
  { rows, isClosed, isRunning = false }: { rows: PlatformMonth[]; isClosed: boolean; isRunning?: boolean },
): Html {
  const change = ({ now, closing }: PlatformMonth): Html => (now === closing ? EMPTY_VALUE : money(now - closing));
  const amounts = [
    ['Saldo no começo do mês', (row: PlatformMonth) => money(row.opening)],
    [isRunning ? 'Saldo até agora' : 'Saldo no fim do mês', (row: PlatformMonth) => money(row.closing)],
    [isRunning ? 'Retido até agora' : 'Retido no fim do mês', (row: PlatformMonth) => money(row.held)],
    ...(isClosed ? ([['Mudou depois do fechamento', change]] as const) : []),
  ] as const;
  return table({
    caption: 'Saldos do mês por plataforma',
    rows,
    empty: 'Nada foi lançado até o fim deste mês.',
    columns: [
      {
        title: 'Plataforma',
        cell: ({ platform }) => showPlatform(names, presentPlatform(getCaller(response), { platform }).platform),
      },
      ...amounts.map(([title, cell]) => ({ title, cell, align: 'end' as const })),
    ],
  });
}

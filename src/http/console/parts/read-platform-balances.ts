import type { Context } from '../../../context.ts';
import type { WallTime } from '../../../domain/calendar.ts';
import { compareText } from '../../../domain/lists.ts';
import { splitAccount } from '../../../ledger/journal/plan-entries.ts';
import { type AsOf, type Balance, readBalances } from '../../../seal/read-balances.ts';

export type PlatformBalance = { platform: string; availableCents: bigint; heldCents: bigint };

/** Reads the available and held balance of each platform. @param at entries before it count. */
export async function readPlatformBalances(
  context: Context,
  at: WallTime,
  known: AsOf = 'now',
): Promise<PlatformBalance[]> {
  const { balances } = await readBalances(context.db, at, known, context.clock.now());
  return sumByPlatform(balances);
}

/** Sums what is available and held by platform, in the order of their names. Other accounts are left out. */
export function sumByPlatform(balances: Balance[]): PlatformBalance[] {
  const platforms = new Map<string, PlatformBalance>();
  for (const { account: name, cents } of balances) {
    const { account, platform } = splitAccount(name);
    if (account !== 'Assets:Provider:Available' && account !== 'Assets:Provider:Held') continue;
    const one = platforms.get(platform) ?? { platform, availableCents: 0n, heldCents: 0n };
    if (account === 'Assets:Provider:Held') one.heldCents += cents;
    else one.availableCents += cents;
    platforms.set(platform, one);
  }
  return [...platforms.values()].toSorted((a, b) => compareText(a.platform, b.platform));
}

import { maskAccount } from '../../domain/person/mask-person.ts';
import type { ReportPlan } from '../plan/report-plan.ts';
import { type AccountBalance, AVAILABLE, HELD, isBalanceAccount, splitAccount } from '../read/read-balances.ts';
import { formatLocalAmount, type Texts } from '../texts/texts.ts';
import type { ChangeRow } from './columns.ts';

/** A row of Alterações that nothing is told in yet. */
export const EMPTY_CHANGE = {
  id: null,
  reference: null,
  platform: null,
  before: '',
  after: '',
  effectBefore: null,
  effectAfter: null,
  why: '',
  source: '',
};

/**
 * A change in an earlier day, or a stated opening, moves the balance that this day starts from, or what it is made of.
 * Pure.
 */
export function compareOpenings(
  plan: ReportPlan,
  before: AccountBalance[],
  after: AccountBalance[],
  texts: Texts,
): ChangeRow[] {
  const [old, now] = [sumOpenings(before), sumOpenings(after)];
  const accounts = compareAccounts(before, after);
  return [...accounts.keys()].sort().map((platform) => {
    const [effectBefore, effectAfter] = [old.get(platform) ?? 0n, now.get(platform) ?? 0n];
    const changed = accounts.get(platform) ?? [];
    const list = (pick: (one: ChangedAccount) => bigint): string =>
      changed.map((one) => `${nameRoot(one.root, texts)} ${formatLocalAmount(pick(one), texts)}`).join(', ');
    const byPerson = changed.some((one) => one.isStated);
    return {
      ...EMPTY_CHANGE,
      recordedAt: plan.madeAt,
      platform: plan.masked ? maskAccount(platform) : platform,
      what: texts.changes.opening,
      before: list((one) => one.before),
      after: list((one) => one.after),
      effectBefore,
      effectAfter,
      why: byPerson ? texts.changes.person : texts.changes.earlierDay,
      source: byPerson ? texts.sources.person : '',
    };
  });
}

type ChangedAccount = { root: string; before: bigint; after: bigint; isStated: boolean };

/** By platform, the accounts of which the opening balance is another one; without any, a platform is not there. Pure. */
function compareAccounts(before: AccountBalance[], after: AccountBalance[]): Map<string, ChangedAccount[]> {
  const [old, now] = [before, after].map((list) => new Map(list.map((one) => [one.account, one])));
  const changed = new Map<string, ChangedAccount[]>();
  for (const account of new Set([...(old?.keys() ?? []), ...(now?.keys() ?? [])])) {
    const [was, is] = [old?.get(account), now?.get(account)];
    const one = { before: openingOf(was), after: openingOf(is), isStated: (was?.opened ?? 0n) !== (is?.opened ?? 0n) };
    if (one.before === one.after) continue;
    const { root, platform } = splitAccount(account);
    changed.set(platform, [...(changed.get(platform) ?? []), { root, ...one }]);
  }
  // of accounts that are no balance there is only to say where no balance tells of the change
  for (const [platform, ones] of changed) {
    const balances = ones.filter((one) => isBalanceAccount(one.root));
    if (balances.length > 0) changed.set(platform, balances);
  }
  return changed;
}

function openingOf(balance: AccountBalance | undefined): bigint {
  return balance ? balance.before + balance.opened : 0n;
}

function nameRoot(root: string, texts: Texts): string {
  if (root === AVAILABLE) return texts.changes.available;
  return root === HELD ? texts.changes.held : root;
}

/** What the day has moved the balance by. */
export function sumDayMovements(balances: AccountBalance[]): bigint {
  return balances
    .filter((one) => isBalanceAccount(splitAccount(one.account).root))
    .reduce((sum, one) => sum + one.end - openingOf(one), 0n);
}

function sumOpenings(balances: AccountBalance[]): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const balance of balances) {
    const { root, platform } = splitAccount(balance.account);
    if (isBalanceAccount(root)) sums.set(platform, (sums.get(platform) ?? 0n) + openingOf(balance));
  }
  return sums;
}

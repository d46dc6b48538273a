import { compareText } from '../../../domain/lists.ts';
import { maskAccount } from '../../../domain/person/mask-person.ts';
import { formatLocalAmount, type Texts } from '../../../texts/reports/texts.ts';
import type { ReportPlan } from '../../plan/report-plan.ts';
import { type AccountBalance, AVAILABLE, HELD, isBalanceAccount, splitAccount } from '../../read/read-accounts.ts';
import type { ChangeRow } from '../columns.ts';

/** The empty cells of a row of Alterações. */
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
 * Compares the opening balances of a day at two cuts: one row for each platform with a difference. A change in an
 * earlier day, or a stated opening, moves the balance or its parts. Pure.
 */
export function compareOpenings(
  plan: ReportPlan,
  before: AccountBalance[],
  after: AccountBalance[],
  texts: Texts,
): ChangeRow[] {
  const [sumsBefore, sumsAfter] = [sumOpenings(before), sumOpenings(after)];
  const accounts = compareAccounts(before, after);
  return [...accounts]
    .sort(([a], [b]) => compareText(a, b))
    .map(([platform, changed]) => {
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
        effectBefore: sumsBefore.get(platform) ?? 0n,
        effectAfter: sumsAfter.get(platform) ?? 0n,
        why: byPerson ? texts.changes.person : texts.changes.earlierDay,
        source: byPerson ? texts.sources.person : '',
      };
    });
}

type ChangedAccount = { root: string; before: bigint; after: bigint; isStated: boolean };

/** Groups the accounts with another opening balance by platform. Pure. */
function compareAccounts(before: AccountBalance[], after: AccountBalance[]): Map<string, ChangedAccount[]> {
  const old = new Map(before.map((one) => [one.account, one]));
  const now = new Map(after.map((one) => [one.account, one]));
  const changed = [...new Set([...old.keys(), ...now.keys()])].flatMap((account) => {
    const [was, is] = [old.get(account), now.get(account)];
    const isStated = (was?.opened ?? 0n) !== (is?.opened ?? 0n);
    const one = { ...splitAccount(account), before: openingOf(was), after: openingOf(is), isStated };
    return one.before === one.after ? [] : [one];
  });
  // another account is listed only for a platform whose balance did not change
  const listed = [...Map.groupBy(changed, (one) => one.platform)].map(([platform, ones]) => {
    const balances = ones.filter((one) => isBalanceAccount(one.root));
    return [platform, balances.length > 0 ? balances : ones] as const;
  });
  return new Map(listed);
}

function openingOf(balance: AccountBalance | undefined): bigint {
  return balance ? balance.before + balance.opened : 0n;
}

function nameRoot(root: string, texts: Texts): string {
  if (root === AVAILABLE) return texts.changes.available;
  return root === HELD ? texts.changes.held : root;
}

/** The sum by which a day moved the balance of all platforms. */
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

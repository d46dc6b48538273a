/** Refunds in the accounts of a chart: apart from the receipts and the payments that they take back. */
import { REFUND_ACCOUNTS } from '../../../ledger/stated/check-accounts.ts';
import { splitAccount } from '../../read/read-accounts.ts';
import type { Movement } from '../../read/read-movements.ts';

const LEDGER_ACCOUNTS = new Map([...REFUND_ACCOUNTS].map(([account, refunds]) => [refunds, account]));

/** A movement whose postings name the accounts of refunds, where it is one. */
export function nameRefunds<One extends Pick<Movement, 'kind' | 'postings'>>(movement: One): One {
  if (movement.kind !== 'refund_made' && movement.kind !== 'refund_received') return movement;
  const postings = movement.postings.map((one) => ({ ...one, account: rename(one.account, REFUND_ACCOUNTS) }));
  return { ...movement, postings };
}

/** The account of the ledger that an account of the chart stands for. */
export function nameLedgerAccount(account: string): string {
  return rename(account, LEDGER_ACCOUNTS);
}

function rename(account: string, names: ReadonlyMap<string, string>): string {
  const { root, platform } = splitAccount(account);
  const name = names.get(root);
  return name === undefined ? account : `${name}:${platform}`;
}

import { z } from 'zod';
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import { parseJson } from '../domain/person/tokenize-json.ts';
import { digestMonth, parseMonthBalances, readMonthBalances } from '../seal/digest-month.ts';
import { type MonthClose, readMonthChanges, readMonthClose } from '../seal/read-month-closes.ts';
import { readSeal } from '../seal/read-seals.ts';
import type { Verification } from './check-state.ts';
import type { ReportBreak } from './collect-breaks.ts';

const ACTIONS = ['months.close', 'months.reopen'] as const;
const FIXED = z.object({ close: z.int(), position: z.int(), hash: z.string(), digest: z.string() });
/** A cut's part in a seal. */
const CUT = ['entrySeq', 'eventSeq', 'mismatchChangeSeq'] as const;
const REOPENED = z.object({ reopen: z.int(), close: z.int() });

/**
 * Verifies each closing and reopening of a month against the chain and the audit, which the chain seals: a row that was
 * changed, added or removed by hand is reported. The balances of the newest close are read again at its position, once
 * after a proof: they depend on sealed entries alone.
 */
export async function verifyMonths({ context, state, report }: Verification): Promise<boolean> {
  const { db } = context;
  const changes = await readMonthChanges(db);
  const audited = await readAudited(db);
  for (const change of changes) {
    if (context.signal.aborted) return false;
    const fault = (says: string): void => report({ scope: `month ${change.month}`, says });
    const of = audited.get(change.seq);
    audited.delete(change.seq);
    if (of?.month !== change.month || of.action !== change.action || of.actor !== change.actor) {
      fault(`its change ${change.seq} (${change.action}) is not in the audit`);
      continue;
    }
    if (change.action === 'close')
      await verifyClose(db, await readMonthClose(db, change.seq), { fixed: of.fixed, fault });
  }
  for (const [seq, { month }] of audited) {
    report({ scope: `month ${month}`, says: `its change ${seq} is in the audit, and gone` });
  }
  const newest = changes.findLast(({ action }) => action === 'close');
  if (newest && newest.seq !== state.monthClose) {
    await verifyBalances(context, await readMonthClose(db, newest.seq), report);
    state.monthClose = newest.seq;
  }
  return false;
}

type Audited = { month: string; actor: string; action: 'close' | 'reopen'; fixed: z.infer<typeof FIXED> | undefined };

/** Reads each change from the audit, by its number. Few: a month is closed once, or a few times. */
async function readAudited(db: Reader): Promise<Map<number, Audited>> {
  const rows = await db
    .selectFrom('audit')
    .select(['action', 'actor', 'target', 'detail'])
    .where('action', 'in', ACTIONS)
    .orderBy('seq')
    .execute();
  const found = new Map<number, Audited>();
  for (const { action, actor, target: month, detail } of rows) {
    // after the word for the place
    const value = parseJson(detail?.slice(detail.indexOf('{')) ?? '');
    const fixed = action === 'months.close' ? FIXED.safeParse(value).data : undefined;
    const seq = fixed?.close ?? REOPENED.safeParse(value).data?.reopen;
    if (seq !== undefined) found.set(seq, { month, actor, action: fixed ? 'close' : 'reopen', fixed });
  }
  return found;
}

type Expected = { fixed: Audited['fixed']; fault: (says: string) => void };

async function verifyClose(db: Reader, close: MonthClose, { fixed, fault }: Expected): Promise<void> {
  const { position, hash, digest } = close;
  const stored = { close: close.seq, position, hash: hash.toString('hex'), digest: digest.toString('hex') };
  const names = ['position', 'hash', 'digest'] as const;
  for (const name of names) {
    if (fixed?.[name] !== stored[name]) fault(`the ${name} of its close ${close.seq} is not the one in the audit`);
  }
  const seal = await readSeal(db, position);
  if (!seal?.hash.equals(hash)) fault(`its close ${close.seq} names position ${position}, whose hash is another one`);
  if (seal && CUT.some((name) => seal[name] !== close[name]))
    fault(`the cut of its close ${close.seq} is not that of position ${position}`);
  if (!digestMonth(close.month, parseMonthBalances(close.balances)).equals(digest))
    fault(`the balances of its close ${close.seq} do not have its digest`);
}

/** Reads the balances again as known at the position. */
async function verifyBalances({ db, clock }: Context, close: MonthClose, report: ReportBreak): Promise<void> {
  const { month, position, digest } = close;
  if (!(await readSeal(db, position))) return;
  const balances = await readMonthBalances(db, month, { position }, clock.now());
  if (digestMonth(month, balances).equals(digest)) return;
  report({
    scope: `month ${month}`,
    says: `the ledger's balances at position ${position} are not those it was closed with`,
  });
}

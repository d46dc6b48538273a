import type { Context } from '../../src/context.ts';
import { compareStatements, type Statement, storeStatement } from '../../src/ledger/stated/state-balance.ts';
import {
  finishReposts,
  type Opening,
  reverseOpeningEntry,
  stateOpening,
} from '../../src/ledger/stated/state-opening.ts';

/** States an opening and reposts the platform's history under it, as the API does. @returns the opening's id. */
export async function openBooks(context: Context, opening: Opening): Promise<string> {
  const id = await stateOpening(context, opening);
  await finishReposts(context);
  return id;
}

/** Reverses an opening and reposts the platform's history, as the API does. */
export async function reverseOpening(context: Context, id: string): Promise<void> {
  await reverseOpeningEntry(context, id);
  await finishReposts(context);
}

/** States a balance and compares it, as the API does. @returns the statement's id. */
export async function stateBalance(context: Context, statement: Statement): Promise<string> {
  const id = await storeStatement(context, statement);
  await compareStatements(context);
  return id;
}

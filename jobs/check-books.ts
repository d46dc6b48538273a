import type { Context } from '../src/context.ts';
import { checkBooks } from '../src/ledger/check-books.ts';

/** Every night: does each entry sum to zero, and is the journal what the histories ask for? */
export async function checkBooksNightly(context: Context): Promise<void> {
  await checkBooks(context);
}

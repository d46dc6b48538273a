import type { Context } from '../src/context.ts';
import { checkBooks } from '../src/proof/check-books.ts';

/** Every night: do the books prove themselves, from the first entry on? */
export async function checkBooksNightly(context: Context): Promise<void> {
  await checkBooks(context);
}

import type { Context } from '../../src/context.ts';
import { importFile } from '../../src/imports/import-file.ts';
import type { Answers } from '../../src/imports/import-kind.ts';
import type { BankImport } from '../../src/ledger/bank/import-bank-file.ts';
import { type MadeStatement, makeOfx } from './make-ofx.ts';

/** Imports a statement of the bank as people do. @param file what `makeOfx` makes, or the file itself. */
export async function importBank(
  context: Context,
  file: MadeStatement | MadeStatement[] | string | Buffer,
  answers: Answers = {},
): Promise<BankImport> {
  const bytes = typeof file === 'string' || Buffer.isBuffer(file) ? Buffer.from(file) : Buffer.from(makeOfx(file));
  const made = await importFile(context, { kind: 'bank', bytes, answers }, { actor: 'test', allowEqual: false });
  if (!made?.bank) throw new Error('an import of the bank has an outcome');
  return made.bank;
}

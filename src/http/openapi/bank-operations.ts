import { z } from 'zod';
import { created, describeTag, type Operation, ok } from '../../operations/describe-operation.ts';
import { bankEntry, bankLine, bankMatch, bankStatement, bankSummary } from '../../operations/rows/bank.ts';
import { importOutcome } from '../../operations/rows/imports.ts';
import { bankLineQuerySchema, bankMatchSchema, bankUndoSchema } from '../api/books/bank.ts';
import { importQuerySchema } from '../api/imports/imports.ts';

const Bank = describeTag('Bank');
const matched = z.object({ matched: z.object({ reference: z.int(), amount: z.int() }) });

/** The statements of the company's bank account. */
export const BANK_OPERATIONS: readonly Operation[] = [
  Bank.get('/bank', 'Assets:Bank beside the balance of the bank, and what explains the difference', bankSummary),
  {
    ...Bank.post(
      '/bank/imports',
      'accountant',
      'The same as POST /imports/bank',
      {
        ...ok('It was imported before, or it was a dry run', importOutcome),
        ...created('Imported', importOutcome),
      },
      z.string().describe('an OFX 1.x or 2.x, up to 8 MiB; an XLSX or CSV, up to 1 MiB'),
    ),
    query: importQuerySchema,
    bodyType: 'application/x-ofx',
  },
  Bank.list('/bank/statements', bankStatement),
  Bank.list('/bank/lines', bankLine, bankLineQuerySchema),
  Bank.list('/bank/entries', bankEntry),
  Bank.list('/bank/matches', bankMatch),
  Bank.post('/bank/match', 'accountant', 'Match open lines by the rules, as an import does', ok('Matched', matched)),
  Bank.post(
    '/bank/matches',
    'accountant',
    'Match a line with an entry of its amount, at most 31 days apart. 409 for a line that is matched',
    created('Matched', bankMatch),
    bankMatchSchema,
  ),
  Bank.post(
    '/bank/matches/{id}/undo',
    'accountant',
    'Undo a match: the rules keep this pair apart',
    created('Undone', bankMatch),
    bankUndoSchema,
  ),
];

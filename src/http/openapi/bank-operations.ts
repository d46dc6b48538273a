import { z } from 'zod';
import { created, describeTag, type Operation, ok } from '../../operations/describe-operation.ts';
import { importOutcome } from '../../operations/rows/imports.ts';
import { importQuerySchema } from '../api/imports/imports.ts';

const Bank = describeTag('Bank');

/** The statements of the company's bank account. */
export const BANK_OPERATIONS: readonly Operation[] = [
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
];

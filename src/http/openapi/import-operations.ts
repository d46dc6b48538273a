import { z } from 'zod';
import { created, describeTag, type Operation, ok } from '../../operations/describe-operation.ts';
import { importOutcome } from '../../operations/rows/imports.ts';
import { importQuerySchema, templateQuerySchema } from '../api/imports/imports.ts';

const Imports = describeTag('Imports');
const Bank = describeTag('Bank');

/** Files that people import, and their templates. */
export const IMPORT_OPERATIONS: readonly Operation[] = [
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
  {
    ...Imports.post(
      '/imports/{kind}',
      ['operator', 'accountant'],
      'Import an XLSX or CSV by its template: statements, adjustments, accounts, platforms, bank (lines of the bank account), expected (expected payments), nfe (invoices, as XML or ZIP) or decisions (about mismatches, in the workbook that GET /mismatches.xlsx gives). All rows or none; faults by row and column are 422, also rows that equal what is booked, unless allow_equal=true; the same file again imports nothing (`repeats`)',
      {
        200: { description: 'A dry run, or a file that was imported before', schema: importOutcome },
        201: { description: 'Imported', schema: importOutcome },
      },
      z.unknown().describe('the file, up to 1 MiB'),
    ),
    bodyType: 'application/octet-stream',
    query: importQuerySchema,
    refuses: ['file_imported'],
  },
  Imports.get(
    '/imports/{kind}/{file}',
    'The template of a kind: template.xlsx or template.csv',
    { 200: { description: 'The file', contentType: 'application/octet-stream' } },
    templateQuerySchema,
  ),
];

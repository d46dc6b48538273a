import { accountMapSchema } from '../api/books/accounts.ts';
import { BANK_OPERATIONS } from './bank-operations.ts';
import { accountMap } from './components/ledger.ts';
import { describeTag, type Operation, ok } from './describe-operation.ts';
import { IMPORT_OPERATIONS } from './import-operations.ts';

const Ledger = describeTag('Ledger');

/** The map of our accounts to the customer's chart of accounts, and the company's bank account, and files that people import. */
export const ACCOUNT_OPERATIONS: readonly Operation[] = [
  Ledger.get('/accounts', "The map of the ledger's accounts to the customer's chart of accounts", accountMap),
  Ledger.put('/accounts', 'accountant', 'Replace the map', ok('The map', accountMap), accountMapSchema),
  ...BANK_OPERATIONS,
  ...IMPORT_OPERATIONS,
];

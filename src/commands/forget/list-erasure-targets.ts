import { eraseFromAnswers } from '../../access/kept-answers.ts';
import { eraseFromAttempts } from '../../callbacks/manage/erase-from-attempts.ts';
import type { Context } from '../../context.ts';
import { type FreeTextColumns, redactRows } from '../../database/redact-rows.ts';
import type { Erase } from '../../domain/person/person.ts';
import { eraseFromExpected } from '../../expected/erase-from-expected.ts';
import { missArchivedBodies } from '../../inbox/manage/bring-back-bodies.ts';
import { eraseFromInbox } from '../../inbox/manage/erase-from-inbox.ts';
import { eraseFromRetainedFiles } from '../../inbox/spool/redact-retained-files.ts';
import { keepContents } from '../../ledger/bank/statement/keep-contents.ts';
import { eraseFromMerchants } from '../../merchants/erase-from-merchants.ts';
import { eraseLedgerTexts, eraseParties } from '../../privacy/erase-from-ledger.ts';
import { eraseReportFiles } from '../../reports/serve/erase-report-files.ts';

const LINE_TEXTS = ['fitid', 'name', 'memo', 'check_number', 'reference_number'];

type ErasureTarget = { name: string; erase: Erase };

/**
 * Lists all targets that may hold personal data, in the order of erasure: first texts that are found by the values of
 * columns, then these columns, last the files made from them. A test plants a value in each target and finds none
 * afterwards. Add each new table with personal data here. The audit log holds none: its rows cannot be changed.
 */
export function listErasureTargets(context: Context): ErasureTarget[] {
  return [
    { name: 'webhooks', erase: eraseFromInbox(context) },
    { name: 'archived_bodies', erase: missArchivedBodies(context) },
    { name: 'spool_files', erase: eraseFromRetainedFiles(context) },
    { name: 'callback_answers', erase: eraseFromAttempts(context) },
    { name: 'ledger_texts', erase: eraseLedgerTexts(context) },
    { name: 'alerts', erase: eraseAlerts(context) },
    { name: 'platform_names', erase: eraseTexts(context, { table: 'platform_names', key: 'seq', columns: ['name'] }) },
    { name: 'month_closes', erase: eraseTexts(context, { table: 'month_closes', key: 'seq', columns: ['note'] }) },
    {
      name: 'bank_lines',
      erase: eraseTexts(context, { table: 'bank_line_texts', key: 'line_seq', columns: LINE_TEXTS }, (seqs) =>
        keepContents(context, seqs),
      ),
    },
    {
      name: 'bank_notes',
      erase: eraseTexts(context, { table: 'bank_match_notes', key: 'match_seq', columns: ['note'] }),
    },
    {
      name: 'bank_accounts',
      erase: eraseTexts(context, { table: 'bank_accounts', key: 'seq', columns: ['name', 'not_pix', 'csv'] }),
    },
    { name: 'expected_payments', erase: eraseFromExpected(context) },
    { name: 'users', erase: eraseTexts(context, { table: 'users', key: 'seq', columns: ['subject', 'name'] }) },
    { name: 'kept_answers', erase: eraseFromAnswers(context) },
    { name: 'merchants', erase: eraseFromMerchants(context) },
    { name: 'transactions', erase: eraseParties(context) },
    { name: 'report_files', erase: eraseReportFiles(context) },
  ];
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

/**
 * An alert's texts are ours: a transaction's id in them reveals nothing of its person. Erased for the id alone, they would
 * be written again by the next refresh of the alert.
 */
function eraseAlerts(context: Context): Erase {
  const erase = eraseTexts(context, { table: 'alerts', key: 'seq', columns: ['summary', 'facts'] });
  return (person, options) =>
    erase(
      {
        ...person,
        redact: (text, about) =>
          person.redact(text.replace(UUID, ''), about) === undefined ? undefined : person.redact(text, about),
      },
      options,
    );
}

/** @param beforeWrite called with the keys of rows before they change. */
function eraseTexts(
  context: Context,
  columns: FreeTextColumns,
  beforeWrite?: (keys: number[]) => Promise<void>,
): Erase {
  return ({ redact, onSkipped }, { write }) =>
    redactRows(context.db, columns, redact, {
      write,
      now: context.clock.now(),
      signal: context.signal,
      onSkipped,
      ...(beforeWrite && write ? { beforeWrite } : {}),
    });
}

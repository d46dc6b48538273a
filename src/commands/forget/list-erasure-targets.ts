import { eraseFromAttempts } from '../../callbacks/manage/erase-from-attempts.ts';
import type { Context } from '../../context.ts';
import { type FreeTextColumns, redactRows } from '../../database/redact-rows.ts';
import type { Erase } from '../../domain/person/person.ts';
import { eraseFromInbox } from '../../inbox/manage/erase-from-inbox.ts';
import { eraseFromRetainedFiles } from '../../inbox/spool/redact-retained-files.ts';
import { eraseLedgerTexts, eraseParties } from '../../privacy/erase-from-ledger.ts';
import { eraseReportFiles } from '../../reports/serve/erase-report-files.ts';

type Place = { name: string; erase: Erase };

/**
 * Every place that may hold something of a person, in the order in which it is emptied: what is found by the columns'
 * values first, the columns themselves after it, and last the files that are made of them. A test plants a value in
 * each and finds it nowhere afterwards; a table that comes to hold personal data belongs here. The audit holds none: its
 * rows can't be changed.
 */
export function listErasureTargets(context: Context): Place[] {
  return [
    { name: 'webhooks', erase: eraseFromInbox(context) },
    { name: 'spool_files', erase: eraseFromRetainedFiles(context) },
    { name: 'callback_answers', erase: eraseFromAttempts(context) },
    { name: 'ledger_texts', erase: eraseLedgerTexts(context) },
    { name: 'alerts', erase: eraseTexts(context, { table: 'alerts', key: 'seq', columns: ['summary'] }) },
    { name: 'transactions', erase: eraseParties(context) },
    { name: 'report_files', erase: eraseReportFiles(context) },
  ];
}

function eraseTexts(context: Context, place: FreeTextColumns): Erase {
  return ({ redact, onSkipped: missed }, { write }) =>
    redactRows(context.db, place, redact, {
      write,
      now: context.clock.now(),
      signal: context.signal,
      onSkipped: missed,
    });
}

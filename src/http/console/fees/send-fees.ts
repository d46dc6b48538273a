import type { Response } from 'express';
import { audit } from '../../../access/audit.ts';
import type { Context } from '../../../context.ts';
import type { Month } from '../../../domain/calendar.ts';
import { readFees } from '../../../ledger/stated/read-fees.ts';
import { presentPlatform } from '../../../operations/mask-texts.ts';
import { FORMAT_FACTS } from '../../../reports/render/formats/formats.ts';
import { renderFeesCsv, writeFeesWorkbook } from '../../../reports/serve/export-fees.ts';
import { EXPORT_FORMATS, EXPORT_ROWS_MAX } from '../../../reports/serve/export-found.ts';
import { refuse } from '../../../texts/refuse.ts';
import { canSeePersonalData, getActor, getCaller } from '../../access/authorize.ts';
import { sendFile, signalOf } from '../../send-file.ts';
import { readPlatformNames } from '../parts/read-platform-names.ts';

/** Sends a month's fees as a file, platforms masked for viewers. The download is audited. @throws ConfereError `not_found`. */
export async function sendFees(context: Context, response: Response, month: Month, asked: unknown): Promise<void> {
  const format = EXPORT_FORMATS.find((one) => one === asked);
  if (!format) throw refuse('export_unknown', { formats: EXPORT_FORMATS.join(' or ') });
  const { rows, byHand, payments } = await readFees(context.db, month, { max: EXPORT_ROWS_MAX });
  const show = <Row extends { platform: string }>(row: Row): Row => presentPlatform(getCaller(response), row);
  const fees = { rows: rows.map(show), byHand: byHand.map(show), payments: payments.map(show) };
  const name = `confere-tarifas-${month}${canSeePersonalData(response) ? '' : '-masked'}.${format}`;
  const platformNames = await readPlatformNames(context, response);
  const headers = {
    'content-disposition': `attachment; filename="${name}"`,
    'content-type': FORMAT_FACTS[format].contentType,
  };
  await audit(context, { actor: getActor(response), action: 'reports.download', target: name });
  if (format === 'csv') {
    response.set(headers).send(renderFeesCsv(context, { fees, platformNames }));
    return;
  }
  const wanted = { month, fees, platformNames, signal: signalOf(response) };
  await writeFeesWorkbook(context, wanted, (file) => sendFile(response, file, headers));
}

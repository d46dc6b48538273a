import path from 'node:path';
import type { Response } from 'express';
import { audit } from '../access/audit.ts';
import type { Context } from '../context.ts';
import type { Format } from '../reports/plan/report-plan.ts';
import { openReport } from '../reports/serve/open-report.ts';
import { canSeePersonalData, getActor } from './access/authorize.ts';

const CONTENT_TYPE: Record<Format, string> = {
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  csv: 'text/csv; charset=utf-8',
  journal: 'text/plain; charset=utf-8',
};

type Wanted = Omit<Parameters<typeof openReport>[1], 'masked'>;

/** Sends a report's file for download, masked for viewers. The download is audited. */
export async function sendReport(context: Context, response: Response, wanted: Wanted): Promise<void> {
  const opened = await openReport(context, { ...wanted, masked: !canSeePersonalData(response) });
  await audit(context, { actor: getActor(response), action: 'reports.download', target: opened.name });
  response.setHeader('content-disposition', `attachment; filename="${opened.name}"`);
  response.setHeader('content-type', CONTENT_TYPE[wanted.format]);
  response.setHeader('digest', `sha-256=${Buffer.from(opened.sha256, 'hex').toString('base64')}`);
  await new Promise<void>((resolve, reject) => {
    // dotfiles: DATA_DIR may be under a directory whose name begins with a dot
    response.sendFile(
      path.resolve(opened.file),
      { dotfiles: 'allow', cacheControl: false, lastModified: false },
      (error) => (error ? reject(error) : resolve()),
    );
  });
}

import path from 'node:path';
import type { Response } from 'express';
import { audit } from '../access/audit.ts';
import type { Context } from '../context.ts';
import type { Format } from '../reports/plan/report-plan.ts';
import { measureFile } from '../reports/revisions/publish-drafts.ts';
import { exportRange, type WantedRange } from '../reports/serve/export-range.ts';
import { openReport } from '../reports/serve/open-report.ts';
import { canSeePersonalData, getActor } from './access/authorize.ts';

const CONTENT_TYPE: Record<Format, string> = {
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  csv: 'text/csv; charset=utf-8',
  journal: 'text/plain; charset=utf-8',
};

type Wanted = Omit<Parameters<typeof openReport>[1], 'masked'>;
type Sent = { file: string; name: string; sha256: string; format: Format };

/** Sends a report's file for download, masked for viewers. The download is audited. */
export async function sendReport(context: Context, response: Response, wanted: Wanted): Promise<void> {
  const opened = await openReport(context, { ...wanted, masked: !canSeePersonalData(response) });
  await sendFile(context, response, { ...opened, format: wanted.format });
}

/** Makes the file of a range and sends it, likewise masked and audited. A client that leaves ends the work. */
export async function sendRange(
  context: Context,
  response: Response,
  wanted: Omit<WantedRange, 'masked' | 'signal'>,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const of = { ...wanted, masked: !canSeePersonalData(response), signal: gone.signal };
  await exportRange(context, of, async ({ file, name }) => {
    const { sha256 } = await measureFile(file);
    await sendFile(context, response, { file, name, sha256, format: wanted.format });
  });
}

async function sendFile(context: Context, response: Response, { file, name, sha256, format }: Sent): Promise<void> {
  await audit(context, { actor: getActor(response), action: 'reports.download', target: name });
  response.setHeader('content-disposition', `attachment; filename="${name}"`);
  response.setHeader('content-type', CONTENT_TYPE[format]);
  response.setHeader('digest', `sha-256=${Buffer.from(sha256, 'hex').toString('base64')}`);
  await new Promise<void>((resolve, reject) => {
    // dotfiles: DATA_DIR may be under a directory whose name begins with a dot
    response.sendFile(path.resolve(file), { dotfiles: 'allow', cacheControl: false, lastModified: false }, (error) =>
      error ? reject(error) : resolve(),
    );
  });
}

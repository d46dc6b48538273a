import type { Response } from 'express';
import { audit } from '../access/audit.ts';
import type { Context } from '../context.ts';
import { authorizePlatform } from '../operations/choose-platform.ts';
import type { FileFormat } from '../reports/plan/report-plan.ts';
import { FORMAT_FACTS } from '../reports/render/formats/formats.ts';
import { measureFile } from '../reports/revisions/publish-drafts.ts';
import { exportRange, type WantedRange } from '../reports/serve/export-range.ts';
import { useReport } from '../reports/serve/use-report.ts';
import { canSeePersonalData, getActor, getCaller } from './access/authorize.ts';
import { sendFile, signalOf } from './send-file.ts';

type Wanted = Omit<Parameters<typeof useReport>[1], 'masked' | 'signal'>;
type Sent = { file: string; name: string; sha256: string; format: FileFormat };

/** Sends a report's file for download, masked for viewers. The download is audited. */
export async function sendReport(context: Context, response: Response, wanted: Wanted): Promise<void> {
  authorizePlatform(getCaller(response), wanted.platform);
  const of = { ...wanted, masked: !canSeePersonalData(response), signal: signalOf(response) };
  await useReport(context, of, (opened) => sendAudited(context, response, { ...opened, format: wanted.format }));
}

/** Makes the file of a range and sends it, likewise masked and audited. A client that leaves ends the work. */
export async function sendRange(
  context: Context,
  response: Response,
  wanted: Omit<WantedRange, 'masked' | 'signal'>,
): Promise<void> {
  authorizePlatform(getCaller(response), wanted.platform);
  const of = { ...wanted, masked: !canSeePersonalData(response), signal: signalOf(response) };
  await exportRange(context, of, async ({ file, name }) => {
    const { sha256 } = await measureFile(file);
    await sendAudited(context, response, { file, name, sha256, format: wanted.format });
  });
}

async function sendAudited(context: Context, response: Response, { file, name, sha256, format }: Sent): Promise<void> {
  await audit(context, { actor: getActor(response), action: 'reports.download', target: name });
  await sendFile(response, file, {
    'content-disposition': `attachment; filename="${name}"`,
    'content-type': FORMAT_FACTS[format].contentType,
    digest: `sha-256=${Buffer.from(sha256, 'hex').toString('base64')}`,
  });
}

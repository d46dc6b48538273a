import path from 'node:path';
import type { Response } from 'express';
import { audit } from '../access/audit.ts';
import type { Context } from '../context.ts';
import type { FileFormat } from '../reports/plan/report-plan.ts';
import { FORMAT_FACTS } from '../reports/render/formats/formats.ts';
import { measureFile } from '../reports/revisions/publish-drafts.ts';
import { exportRange, type WantedRange } from '../reports/serve/export-range.ts';
import { useReport } from '../reports/serve/use-report.ts';
import { canSeePersonalData, getActor } from './access/authorize.ts';
import { authorizePlatform } from './access/choose-platform.ts';

type Wanted = Omit<Parameters<typeof useReport>[1], 'masked' | 'signal'>;
type Sent = { file: string; name: string; sha256: string; format: FileFormat };

/** Sends a report's file for download, masked for viewers. The download is audited. */
export async function sendReport(context: Context, response: Response, wanted: Wanted): Promise<void> {
  authorizePlatform(response, wanted.platform);
  const of = { ...wanted, masked: !canSeePersonalData(response), signal: signalOf(response) };
  await useReport(context, of, (opened) => sendFile(context, response, { ...opened, format: wanted.format }));
}

/** Makes the file of a range and sends it, likewise masked and audited. A client that leaves ends the work. */
export async function sendRange(
  context: Context,
  response: Response,
  wanted: Omit<WantedRange, 'masked' | 'signal'>,
): Promise<void> {
  authorizePlatform(response, wanted.platform);
  const of = { ...wanted, masked: !canSeePersonalData(response), signal: signalOf(response) };
  await exportRange(context, of, async ({ file, name }) => {
    const { sha256 } = await measureFile(file);
    await sendFile(context, response, { file, name, sha256, format: wanted.format });
  });
}

/** Aborts when the client leaves. */
function signalOf(response: Response): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  return gone.signal;
}

async function sendFile(context: Context, response: Response, { file, name, sha256, format }: Sent): Promise<void> {
  await audit(context, { actor: getActor(response), action: 'reports.download', target: name });
  response.setHeader('content-disposition', `attachment; filename="${name}"`);
  response.setHeader('content-type', FORMAT_FACTS[format].contentType);
  response.setHeader('digest', `sha-256=${Buffer.from(sha256, 'hex').toString('base64')}`);
  await new Promise<void>((resolve, reject) => {
    // dotfiles: DATA_DIR may be under a directory whose name begins with a dot
    response.sendFile(path.resolve(file), { dotfiles: 'allow', cacheControl: false, lastModified: false }, (error) =>
      error ? reject(error) : resolve(),
    );
  });
}

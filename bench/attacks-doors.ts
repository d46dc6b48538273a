import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createApi } from '../demo/start-programs.ts';
import { packWorkbook } from '../test/support/pack-zip.ts';
import { type Figure, figure } from './figure.ts';

/** How long /healthz may take beside each request. */
const HEALTH_MS_MAX = 300;
const EVERY_MS = 20;
/** As long as a line of a request may be. */
const SEARCH_CHARS = 14_000;

const search = (text: string) => `/transactions?extra=${encodeURIComponent(text.slice(0, SEARCH_CHARS))}`;
const workbook = (sheet: string) => ({ path: '/imports/bank?dry_run=true', body: packWorkbook(sheet) });

/** Requests of people with a token, each made to take long. */
const REQUESTS: Record<string, { path: string; body?: Buffer }> = {
  'a search of letters of the shape of digits': { path: search('l'.repeat(SEARCH_CHARS)) },
  'a search of beginnings of numbers': { path: search('comec_'.repeat(SEARCH_CHARS / 6)) },
  'a workbook of cells': workbook(`<sheetData><row>${'<c/>'.repeat(3_000_000)}</row></sheetData>`),
  'a workbook of one open cell': workbook(`<sheetData><row><c ${'r '.repeat(4_000_000)}`),
  'a workbook of rows': workbook(`<sheetData>${'<row/>'.repeat(2_000_000)}</sheetData>`),
};

/** The longest answer of /healthz beside each request. @param token of an admin. */
export async function measureDoors({ url, token }: { url: string; token: string }): Promise<Figure[]> {
  const admin = createApi(url, '/api/v1', token);
  const name = `bench-${randomBytes(4).toString('hex')}`;
  const tokenOf = async (role: string) =>
    (await admin.call<{ token: string }>('POST', '/tokens', { name: `${name}-${role}`, role })).token;
  const [viewer, accountant] = [await tokenOf('viewer'), await tokenOf('accountant')];
  const figures: Figure[] = [];
  for (const [title, { path, body }] of Object.entries(REQUESTS)) {
    const authorization = `Bearer ${body ? accountant : viewer}`;
    const headers = { authorization, 'content-type': 'application/octet-stream' };
    const request = { method: body ? 'POST' : 'GET', headers, ...(body ? { body: new Uint8Array(body) } : {}) };
    let isOver = false;
    const answer = fetch(`${url}/api/v1${path}`, request).finally(() => {
      isOver = true;
    });
    let longestMs = 0;
    while (!isOver) {
      const beganMs = performance.now();
      await (await fetch(`${url}/healthz`)).text();
      longestMs = Math.max(longestMs, performance.now() - beganMs);
      await sleep(EVERY_MS);
    }
    const { status } = await answer;
    if (status === 401 || status === 403 || status === 404) throw new Error(`${title} was not tried: ${status}`);
    figures.push(figure(`beside ${title}: /healthz, longest, ms`, longestMs, HEALTH_MS_MAX));
  }
  return figures;
}

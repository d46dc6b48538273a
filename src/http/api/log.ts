import type { RequestHandler, Response, Router } from 'express';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { limitReads } from '../../database/limit-statement-time.ts';
import { isDay } from '../../domain/calendar.ts';
import { findManifest } from '../../manifests/read-manifests.ts';
import { findMerchant } from '../../merchants/read-merchants.ts';
import { month } from '../../operations/fields.ts';
import { findMonthClose } from '../../reports/plan/find-month-close.ts';
import { refuse, refuseField } from '../../texts/refuse.ts';
import { TILE_WIDTH } from '../../tlog/merkle.ts';
import { proveLeaf, readPublished } from '../../tlog/prove.ts';
import { type Leaf, readHashes } from '../../tlog/tree.ts';
import { requireRole } from '../access/authorize.ts';
import { createRouter } from '../create-router.ts';
import { parseQuery } from '../parse-request.ts';

/** A proof is about one of them. */
export const logProofQuerySchema = z.object({
  seal: z
    .string()
    .regex(/^[1-9]\d{0,14}$/, 'must be a position of the chain')
    .transform(Number)
    .optional(),
  month: month.describe('a closed month').optional(),
  merchant_day: z
    .string()
    .max(100)
    .describe("a merchant's id and a day: m_…/2026-11-27, the newest revision")
    .optional(),
});

/** `8/x001/x234/067.p/4`: level, tile without needless zeros, and the width of one that is not full. */
const TILE =
  /^(\d|[1-5]\d|6[0-3])\/((?:x(?!000)\d{3}\/(?:x\d{3}\/){0,4})?\d{3})(?:\.p\/([1-9]\d?|1\d\d|2[0-4]\d|25[0-5]))?$/;
/** A restore begins another origin, of which a tile may have other hashes under the same address. */
const TILE_CACHED_S = 3_600;

/** The log's checkpoint and its tiles (tlog-tiles of C2SP), hashes alone. @param before what a request passes if they are not public. */
export function logRoutes(context: Context, before: RequestHandler[]): Router {
  const router = createRouter();
  const reading = limitReads(context);
  const admit = context.config.LOG_PUBLIC ? [] : [...before, requireRole('viewer')];
  router.get('/log/checkpoint', ...admit, async (_request, response) => {
    const published = await readPublished(reading);
    if (!published) throw refuse('log_leaf_unknown');
    response.type('text/plain').send(published.note);
  });
  router.get('/log/tile/*tile', ...admit, async (request, response) => {
    // the type of express: one text, or one for each part
    const name = [request.params.tile].flat().join('/');
    const [, level, tile = '', width = String(TILE_WIDTH)] = TILE.exec(name) ?? [];
    const from = Number(tile.replaceAll(/[x/]/g, '')) * TILE_WIDTH;
    const hashes = level === undefined ? [] : await readHashes(reading.db, Number(level), from, from + Number(width));
    if (hashes.length === 0 || hashes.length !== Number(width)) throw refuse('log_leaf_unknown');
    const scope = context.config.LOG_PUBLIC ? 'public' : 'private';
    response.setHeader('cache-control', `${scope}, max-age=${TILE_CACHED_S}`);
    response.type('application/octet-stream').send(Buffer.concat(hashes));
  });
  return router;
}

/** Proofs of what is in the log. */
export function logProofRoutes(context: Context): Router {
  const router = createRouter();
  const reading = limitReads(context);
  router.get('/log/proof', requireRole('viewer'), async (request, response) => {
    await sendProof(reading, response, await findAsked(reading, parseQuery(request, logProofQuerySchema)));
  });
  return router;
}

async function findAsked(
  context: Context,
  query: z.infer<typeof logProofQuerySchema>,
): Promise<Pick<Leaf, 'kind' | 'ref'>> {
  const { db } = context;
  const { seal, month: closed, merchant_day: day, ...rest } = query;
  if (Object.values({ seal, closed, day, ...rest }).filter((value) => value !== undefined).length !== 1)
    throw refuseField('seal', 'evidence_required');
  if (seal !== undefined) return { kind: 'seal', ref: seal };
  if (closed !== undefined) {
    const close = await findMonthClose(db, closed);
    if (!close) throw refuse('log_leaf_unknown');
    return { kind: 'month', ref: close.seq };
  }
  const [id = '', of = ''] = day?.split('/') ?? [];
  if (!isDay(of)) throw refuseField('merchant_day', 'day_wrong');
  const manifest = await findManifest(context, (await findMerchant(db, id)).seq, { day: of });
  return { kind: 'day', ref: manifest.seq };
}

async function sendProof(context: Context, response: Response, leaf: Pick<Leaf, 'kind' | 'ref'>): Promise<void> {
  const proof = await proveLeaf(context, leaf);
  if (proof === undefined) throw refuse('log_leaf_unknown');
  response.type('text/plain').send(proof);
}

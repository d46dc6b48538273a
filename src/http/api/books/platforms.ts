import type { Router } from 'express';
import { z } from 'zod';
import { auditChange } from '../../../access/audit.ts';
import type { Context } from '../../../context.ts';
import { listPlatformNames } from '../../../database/list-platform-names.ts';
import { maskPlatform } from '../../../domain/person/mask-person.ts';
import { setPlatformName } from '../../../ledger/stated/platform-names.ts';
import { platform } from '../../../operations/fields.ts';
import { presentPlatformName } from '../../../operations/mask-texts.ts';
import { getActor, getCaller, requireRole } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { parseBody } from '../../parse-request.ts';

export const platformNameSchema = z.strictObject({
  platform,
  name: z.string('must be a text, or null').nullable().describe('null takes the name back'),
});

/** The names of platforms, for people. Everything else names a platform by its id. */
export function platformRoutes(context: Context): Router {
  const router = createRouter();
  router.get('/platforms', requireRole('viewer'), async (_request, response) => {
    const named = await listPlatformNames(context.db);
    response.json({ platforms: named.map((one) => presentPlatformName(getCaller(response), one)) });
  });

  router.put('/platforms', requireRole('operator', 'accountant'), async (request, response) => {
    const actor = getActor(response);
    const named = parseBody(request, platformNameSchema);
    await auditChange(
      context,
      (inner) => setPlatformName(inner, { ...named, actor }),
      () => ({ actor, action: 'platforms.name', target: maskPlatform(named.platform) }),
    );
    response.json({ platforms: await listPlatformNames(context.db) });
  });
  return router;
}

import { type RequestHandler, Router } from 'express';
import type { Sandbox } from '../../context.ts';
import { countWebhooks } from '../../webhooks/count-webhooks.ts';
import { flushWebhooks } from '../../webhooks/flush-webhooks.ts';
import type { AppState } from '../app-state.ts';
import { requireKey } from '../guard-requests.ts';
import { readJson } from '../read-body.ts';
import { addEventByAdmin } from './add-event-by-admin.ts';
import { flushSchema, parseInput, targetSchema } from './admin-schemas.ts';
import { changeTransaction } from './change-transaction.ts';
import { createByAdmin } from './create-by-admin.ts';
import { createStory } from './create-story.ts';
import { deleteTransaction } from './delete-transaction.ts';
import { listWebhooks } from './list-webhooks.ts';
import { readBooks } from './read-books.ts';
import { applyScenario, replaceSwitches, updateSwitches } from './update-switches.ts';

/**
 * Routes for a developer, a test or the demo: add, change and hide transactions, set switches, read the sandbox's own books
 * and the log of its webhooks. They need the same key as the interface.
 */
export function adminRouter(sandbox: Sandbox, parts: AppState): Router {
  const router = Router();
  router.get('/healthz', (_request, response) => void response.json({ ok: true }));
  router.use(requireKey(sandbox));
  router.post(
    '/transactions',
    answer(201, (request) => createByAdmin(sandbox, readJson(request))),
  );
  router.patch(
    '/transactions/:id',
    answer(200, (request) => changeTransaction(sandbox, idOf(request), readJson(request))),
  );
  router.delete(
    '/transactions/:id',
    answer(200, (request) => deleteTransaction(sandbox, idOf(request), request.query)),
  );
  router.post(
    '/transactions/:id/events',
    answer(201, (request) => addEventByAdmin(sandbox, idOf(request), readJson(request))),
  );
  router.get(
    '/switches',
    answer(200, () => sandbox.switches.current),
  );
  router.put(
    '/switches',
    answer(200, (request) => replaceSwitches(sandbox, parts, readJson(request))),
  );
  router.patch(
    '/switches',
    answer(200, (request) => updateSwitches(sandbox, parts, readJson(request))),
  );
  router.post(
    '/scenarios/:name',
    answer(200, (request) => applyScenario(sandbox, parts, String(request.params.name))),
  );
  router.get(
    '/books',
    answer(200, (request) => readBooks(sandbox, request.query)),
  );
  router.post(
    '/stories',
    answer(201, (request) => createStory(sandbox, readJson(request))),
  );
  serveWebhooks(router, sandbox, parts);
  return router;
}

function serveWebhooks(router: Router, sandbox: Sandbox, { flushSignal }: AppState): void {
  router.get(
    '/webhooks',
    answer(200, (request) => listWebhooks(sandbox, request.query)),
  );
  router.get(
    '/webhooks/counts',
    answer(200, () => countWebhooks(sandbox.db)),
  );
  router.post(
    '/webhooks/flush',
    answer(200, (request) => {
      const { timeout_ms } = parseInput(flushSchema, readJson(request) ?? {});
      return flushWebhooks(sandbox, flushSignal, timeout_ms);
    }),
  );
  router.put(
    '/webhooks/target',
    answer(200, (request) => {
      const { url, token } = parseInput(targetSchema, readJson(request));
      sandbox.settings.webhookUrl = url ?? undefined;
      if (token !== undefined) sandbox.settings.webhookToken = token ?? undefined;
      sandbox.wake.webhooks();
      return { url };
    }),
  );
}

type Asked = Parameters<RequestHandler>[0];

function answer(status: number, work: (request: Asked) => unknown): RequestHandler {
  return async (request, response) => {
    const body = await work(request);
    response.status(status).json(body);
  };
}

function idOf(request: Asked): string {
  return String(request.params.id);
}

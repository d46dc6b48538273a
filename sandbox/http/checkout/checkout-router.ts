import { Router } from 'express';
import type { Sandbox } from '../../context.ts';
import { readTransaction } from '../../store/read-transactions.ts';
import { ApiError } from '../handle-error.ts';
import { changeStatus } from './change-status.ts';
import { renderCheckout } from './render-checkout.ts';

/** The payer's routes: the page of a payment link, its live status, and the status change that the live sandbox has. */
export function checkoutRouter(sandbox: Sandbox): Router {
  const router = Router();
  router.get('/transaction/:id', async (request, response) => {
    const transaction = await known(sandbox, request.params.id);
    const { html, policy } = renderCheckout(transaction);
    response.set({ 'content-security-policy': policy, 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' });
    response.type('html').send(html);
  });
  router.get('/transaction/:id/status', async (request, response) => {
    const { id, status } = await known(sandbox, request.params.id);
    response.set('cache-control', 'no-store').json({ id, status });
  });
  router.all('/transaction/:id/change/:status', async (request, response) => {
    if (request.method !== 'GET' && request.method !== 'POST') throw new ApiError(405, 405, 'Use GET or POST.');
    const { id, status } = await changeStatus(sandbox, request.params.id, request.params.status);
    const wantsPage = request.accepts(['json', 'html']) === 'html';
    if (wantsPage) response.redirect(303, `../../${id}`);
    else response.json({ id, status });
  });
  return router;
}

async function known(sandbox: Sandbox, id: string) {
  const transaction = await readTransaction(sandbox.db, id);
  if (transaction === undefined || transaction.visible === 0) throw new ApiError(404, 404, 'Transaction not found.');
  return transaction;
}

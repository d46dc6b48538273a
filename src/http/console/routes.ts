/**
 * The console for ops: pages rendered here, for people, over the same operations as the API. Everything works without
 * script; nothing comes from another host; every page but the login wants a session, and every change an operator, a
 * form of that very session, and is audited. A viewer sees personal data masked and no buttons.
 */
import express, { type Router } from 'express';
import type { Context } from '../../context.ts';
import { ConfereError } from '../../domain/errors.ts';
import type { AuthGuard } from '../access/guard-auth-attempts.ts';
import { createRouter } from '../create-router.ts';
import { auditPages } from './lists/list-audit.ts';
import { callbackListPages } from './lists/list-callbacks.ts';
import { merchantListPages } from './lists/list-merchants.ts';
import { mismatchListPages } from './lists/list-mismatches.ts';
import { reportPages } from './lists/list-reports.ts';
import { runListPages } from './lists/list-runs.ts';
import { tokenPages } from './lists/list-tokens.ts';
import { transactionListPages } from './lists/list-transactions.ts';
import { webhookListPages } from './lists/list-webhooks.ts';
import { overviewPage } from './overview/show-overview.ts';
import { callbackPages } from './pages/show-callback.ts';
import { showErrors } from './pages/show-error.ts';
import { loginPages } from './pages/show-login.ts';
import { merchantPages } from './pages/show-merchant.ts';
import { mismatchPages } from './pages/show-mismatch.ts';
import { runPages } from './pages/show-run.ts';
import { transactionPages } from './pages/show-transaction.ts';
import { webhookPages } from './pages/show-webhook.ts';
import { requireSession } from './parts/require-session.ts';
import { assetRoutes } from './parts/serve-assets.ts';
import { setSecurityHeaders } from './parts/set-security-headers.ts';

const FORM_BYTES_MAX = 64 * 1024;
/** The first part of every address of the console; all others are the program interfaces'. */
const ROOMS =
  'login|logout|console|transactions|mismatches|inbox|reconciliations|reports|merchants|callbacks|tokens|audit';
const OURS = new RegExp(`^/(?:$|(?:${ROOMS})(?:/|$))`);

/** Every page of the console. An address that is none of its own is left to who comes next. */
export function consoleRoutes(context: Context, guard: AuthGuard): Router {
  const router = createRouter();
  router.use((request, _response, next) => next(OURS.test(request.path) ? undefined : 'router'));
  router.use(setSecurityHeaders(), express.urlencoded({ extended: false, limit: FORM_BYTES_MAX }));
  router.use(assetRoutes(), loginPages(context, guard));
  router.use(requireSession(context, guard));
  router.use([
    overviewPage(context),
    transactionListPages(context),
    transactionPages(context),
    mismatchListPages(context),
    mismatchPages(context),
    webhookListPages(context),
    webhookPages(context),
    runListPages(context),
    runPages(context),
    reportPages(context),
    merchantListPages(context),
    merchantPages(context),
    callbackListPages(context),
    callbackPages(context),
    tokenPages(context),
    auditPages(context),
  ]);
  router.use(() => {
    throw new ConfereError('not_found', 'there is nothing at this address');
  });
  router.use(showErrors(context));
  return router;
}

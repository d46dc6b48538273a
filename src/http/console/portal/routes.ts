/**
 * The portal: pages for one merchant, who logs in with a token of the role `merchant`. It has a login, a cookie and a frame of
 * its own, and shares the parts of the console. A page has the scope of its request and no database
 * (`src/portal/open-scope.ts`). Start with `show-home.ts`.
 */
import express, { type Router } from 'express';
import type { SentWaiting } from '../../../callbacks/health/pause-and-resume.ts';
import type { Context } from '../../../context.ts';
import { redeliverOwn, replayOwn, resumeOwn, testOwn, withdrawAddress } from '../../../operations/merchants/portal.ts';
import { findScopeBySession } from '../../../portal/open-scope.ts';
import { readLogo } from '../../../portal/read-logo.ts';
import { refuse } from '../../../texts/refuse.ts';
import type { AuthGuard } from '../../access/guard-auth-attempts.ts';
import { MERCHANT_PAGES_PER_S_MAX } from '../../access/limit-merchant.ts';
import { keepScope, limitScope } from '../../access/require-scope.ts';
import { answerWithoutDatabase } from '../../answer-without-database.ts';
import { createRouter } from '../../create-router.ts';
import { createPortalDocument } from '../../openapi/create-documents.ts';
import { serveButton } from '../forms/serve-button.ts';
import { chooseLanguage } from '../parts/choose-language.ts';
import { FORM_BYTES_MAX } from '../parts/fields.ts';
import { readFormField } from '../parts/parse-filters.ts';
import { requireLogin } from '../parts/require-session.ts';
import { setSecurityHeaders } from '../parts/set-security-headers.ts';
import { showErrors } from '../parts/show-error.ts';
import { openapiPages } from '../system/show-openapi.ts';
import { addressForm } from './change-addresses.ts';
import { filterForm } from './choose-filter.ts';
import { confirmLink } from './confirm-link.ts';
import { ownCallbackPages } from './list-own-callbacks.ts';
import { historyPage } from './list-own-history.ts';
import { orderPages } from './list-own-orders.ts';
import { openOwnOrders } from './own-orders.ts';
import { createPortalForms } from './portal-form.ts';
import { replayForm } from './replay-own.ts';
import { rotateForm } from './rotate-own-secret.ts';
import { documentPages } from './show-docs.ts';
import { feedPages } from './show-feed.ts';
import { homePage, pauseForm } from './show-home.ts';
import { exampleForm, messagePages } from './show-messages.ts';
import { ownCallbackPage } from './show-own-callback.ts';
import { portalLogin, portalLogout } from './show-portal-login.ts';
import { CALLBACKS, createSite, HOME, logoRoutes, RESEND_TESTS } from './site.ts';

const PORTAL_PATH = /^\/portal(?:\/|$)/;

/** Routes of the portal. Other addresses pass on to the next handler. */
export function portalPages(context: Context, guard: AuthGuard): Router {
  const router = createRouter();
  const logo = readLogo(context.config);
  const site = createSite(context, logo);
  const limit = limitScope(context, MERCHANT_PAGES_PER_S_MAX);
  router.use((request, response, next) => {
    const isOurs = PORTAL_PATH.test(request.path);
    if (isOurs) response.locals.site = site;
    next(isOurs ? undefined : 'router');
  });
  const errors = showErrors(context);
  router.use(chooseLanguage(), setSecurityHeaders(), answerWithoutDatabase(context, errors));
  router.use(express.urlencoded({ extended: false, limit: FORM_BYTES_MAX }));
  router.use(logoRoutes(logo), portalLogin(context, guard), confirmLink(context, guard));
  router.use(
    requireLogin(context, guard, findScopeBySession, (response, scope) => {
      keepScope(response, scope);
      limit(scope);
    }),
  );
  const form = createPortalForms(context);
  const toHome = (done: string) => `${HOME.address}?done=${done}`;
  const toCallback = (id: string, done: string) => `${CALLBACKS.address}/${encodeURIComponent(id)}?done=${done}`;
  router.use([
    portalLogout(context),
    homePage(context),
    filterForm(context, form),
    replayForm(context, form),
    rotateForm(context, form),
    addressForm(context, form),
    serveButton(context, withdrawAddress, {
      address: '/portal/addresses/:id/withdraw',
      to: '/portal/addresses?done=address_withdrawn',
    }),
    pauseForm(form),
    serveButton(context, resumeOwn, {
      address: '/portal/resume',
      to: (_id, _made, sent) => toHome(noticeOf(sent as SentWaiting | undefined)),
    }),
    serveButton(context, testOwn, {
      address: '/portal/test',
      to: (_id, { callback }) => toCallback(callback.id, 'tested'),
    }),
    serveButton(context, replayOwn, {
      address: RESEND_TESTS,
      to: `${CALLBACKS.address}?tests=only&done=replayed`,
      read: (request) => ({
        ...{ from: readFormField(request, 'from'), states: ['failed'], tests: 'only' },
        to: new Date(context.clock.now().getTime() + 1).toISOString(),
      }),
    }),
    serveButton(context, redeliverOwn, {
      address: '/portal/callbacks/:id/redeliver',
      to: (id) => toCallback(id, 'redelivered'),
    }),
    exampleForm(form),
    messagePages(),
    feedPages(context),
    historyPage(context),
    documentPages(),
    orderPages(context, openOwnOrders(context)),
    ownCallbackPages(context),
    ownCallbackPage(context),
    openapiPages('/portal/openapi', createPortalDocument('/')),
  ]);
  router.use(() => {
    throw refuse('address_unknown');
  });
  router.use(errors);
  return router;
}

/** @param sent undefined: nothing was sent before, and what was held follows. */
function noticeOf(sent: SentWaiting | undefined): string {
  return sent === undefined ? 'enabled' : `sent_waiting&n=${sent.due}&following=${sent.following}`;
}

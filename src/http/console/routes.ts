/**
 * The console: pages for people, rendered on the server, over the same functions as the API.
 *
 * It guarantees: a page works without script, and loads nothing from another host. Each page but the login needs a
 * session. Each change needs a role that may make it and a form of that session, and is audited. A viewer sees personal
 * data masked, and no buttons.
 *
 * - `parts/`: what the pages share; each list is sent by `parts/send-list.ts`. Start with `lists/list-tokens.ts`.
 * - `languages/`: the texts, in pt-BR in the code and in English in a catalogue, and what chooses between them.
 * - `overview/`: the first page.
 * - `search/`: the search for transactions.
 * - `two-step-form/`: forms whose change is previewed before it is made.
 * - `balances/`: the balances, and the forms that move money.
 * - `charts/`: draws charts (`charts/chart.ts`); `series/`: the pages of charts.
 * - `lists/`: the other lists.
 * - `reports/`: the month and the day of reports; `months/`: the closing of a month.
 * - `imports/`: files that people import.
 * - `merchants/`: the forms about merchants, and what their page shows of deliveries.
 * - `pages/`: the pages of one item.
 * - `portal/`: the pages of merchants, with a login of their own.
 */
import express, { type Router } from 'express';
import type { Context } from '../../context.ts';
import { limitStatementTime } from '../../database/limit-statement-time.ts';
import { openIssuer } from '../../oidc/open-issuer.ts';
import { refuse } from '../../texts/refuse.ts';
import type { AuthGuard } from '../access/guard-auth-attempts.ts';
import { answerWithoutDatabase } from '../answer-without-database.ts';
import { createRouter } from '../create-router.ts';
import { createApiDocument } from '../openapi/create-documents.ts';
import { bankForms } from './balances/bank-forms.ts';
import { bankLists } from './balances/list-bank.ts';
import { statedLists } from './balances/list-stated.ts';
import { platformNamePages } from './balances/platform-names.ts';
import { reversalForms } from './balances/reversal-forms.ts';
import { balancePage } from './balances/show-balances.ts';
import { bankPage } from './balances/show-bank.ts';
import { statedForms } from './balances/stated-forms.ts';
import { accountMapPages } from './imports/account-map.ts';
import { importPages } from './imports/import-pages.ts';
import { handleMismatchesPages } from './lists/handle-mismatches.ts';
import { alertListPages } from './lists/list-alerts.ts';
import { auditPages } from './lists/list-audit.ts';
import { callbackListPages } from './lists/list-callbacks.ts';
import { merchantListPages } from './lists/list-merchants.ts';
import { mismatchListPages } from './lists/list-mismatches.ts';
import { runListPages } from './lists/list-runs.ts';
import { tokenPages } from './lists/list-tokens.ts';
import { userPages } from './lists/list-users.ts';
import { webhookListPages } from './lists/list-webhooks.ts';
import { purgeWebhooksPages } from './lists/purge-webhooks.ts';
import { merchantForms } from './merchants/merchant-forms.ts';
import { portalTokenForm } from './merchants/portal-token.ts';
import { replayForm } from './merchants/replay-form.ts';
import { secretForms } from './merchants/secret-forms.ts';
import { monthForms } from './months/month-forms.ts';
import { monthClosePage } from './months/show-month-close.ts';
import { overviewPage } from './overview/show-overview.ts';
import { mismatchForms } from './pages/handle-mismatch.ts';
import { issuerLoginPages } from './pages/log-in-by-issuer.ts';
import { languageForm } from './pages/set-language.ts';
import { callbackPages } from './pages/show-callback.ts';
import { showErrors } from './pages/show-error.ts';
import { loginPages } from './pages/show-login.ts';
import { merchantPages } from './pages/show-merchant.ts';
import { mismatchPages } from './pages/show-mismatch.ts';
import { openapiPages } from './pages/show-openapi.ts';
import { runPages } from './pages/show-run.ts';
import { runbookPages } from './pages/show-runbook.ts';
import { systemPages } from './pages/show-system.ts';
import { transactionPages } from './pages/show-transaction.ts';
import { webhookPages } from './pages/show-webhook.ts';
import { chooseLanguage } from './parts/choose-language.ts';
import { refuseRepeated } from './parts/refuse-repeated.ts';
import { requireSession } from './parts/require-session.ts';
import { readRestored } from './parts/restored.ts';
import { assetRoutes } from './parts/serve-assets.ts';
import { setSecurityHeaders } from './parts/set-security-headers.ts';
import { dayPages } from './reports/show-day.ts';
import { monthPages } from './reports/show-month.ts';
import { transactionListPages } from './search/list-transactions.ts';
import { deliveryCharts } from './series/show-deliveries.ts';
import { moneyCharts } from './series/show-money.ts';

const FORM_BYTES_MAX = 64 * 1024;
/** The first path segment of each address of the console. Other addresses belong to the API and the receiver. */
const SEGMENTS =
  'login|logout|language|console|transactions|alerts|runbooks|mismatches|balances|charts|inbox|reconciliations|reports|merchants|callbacks|system|tokens|users|audit|openapi';
const CONSOLE_PATH = new RegExp(`^/(?:$|(?:${SEGMENTS})(?:/|$))`);

/** Routes of the console. Other addresses pass on to the next handler. */
export function consoleRoutes(context: Context, guard: AuthGuard): Router {
  const router = createRouter();
  router.use((request, _response, next) => next(CONSOLE_PATH.test(request.path) ? undefined : 'router'));
  const issuer = openIssuer(context);
  const errors = showErrors(context);
  router.use(chooseLanguage(), setSecurityHeaders(), answerWithoutDatabase(context, errors));
  router.use(express.urlencoded({ extended: false, limit: FORM_BYTES_MAX }));
  router.use(assetRoutes(), loginPages(context, guard, issuer), languageForm(context), runbookPages());
  if (issuer) router.use(issuerLoginPages(context, issuer));
  router.use(requireSession(context, guard), readRestored(context), refuseRepeated());
  // pages that only read end with their statement; a form's change, and a file, may take longer
  const reading = { ...context, db: limitStatementTime(context.db) };
  router.use([
    overviewPage(reading),
    transactionListPages(context),
    transactionPages(reading),
    alertListPages(reading),
    mismatchListPages(reading),
    mismatchPages(reading),
    mismatchForms(context),
    balancePage(reading),
    platformNamePages(context),
    moneyCharts(context),
    deliveryCharts(context),
    statedLists(reading),
    statedForms(context),
    reversalForms(context),
    bankPage(context),
    bankLists(reading),
    bankForms(context),
    importPages(context),
    handleMismatchesPages(context),
    webhookListPages(reading),
    webhookPages(context),
    purgeWebhooksPages(context),
    runListPages(context),
    runPages(reading),
    // before the days, whose address has any name
    accountMapPages(context),
    monthPages(context),
    dayPages(context),
    monthClosePage(reading),
    monthForms(context),
    merchantListPages(reading),
    merchantForms(context),
    secretForms(context),
    portalTokenForm(context),
    replayForm(context),
    merchantPages(context),
    callbackListPages(reading),
    callbackPages(context),
    systemPages(context),
    tokenPages(context),
    userPages(context),
    auditPages(reading),
    openapiPages('/openapi', createApiDocument('/')),
  ]);
  router.use(() => {
    throw refuse('address_unknown');
  });
  router.use(errors);
  return router;
}

/** Answers a browser at an address that nothing serves with a page. Other callers pass on to the next handler. */
export function unknownAddressPage(context: Context): Router {
  const router = createRouter();
  router.use((request, _response, next) =>
    next(!request.path.startsWith('/api/') && request.accepts(['json', 'html']) === 'html' ? undefined : 'router'),
  );
  router.use(chooseLanguage(), setSecurityHeaders(), () => {
    throw refuse('address_unknown');
  });
  router.use(showErrors(context));
  return router;
}

/**
 * The console: pages for people, rendered on the server, over the same functions as the API.
 *
 * It guarantees: a page works without script, and loads nothing from another host. Each page but the login needs a
 * session. Each change needs a role that may make it and a form of that session, and is audited. A viewer sees personal
 * data masked, and no buttons.
 *
 * A folder for each subject, with its lists, pages and forms; start with `access/list-tokens.ts`. Below them are `parts/`,
 * which the pages share, `forms/`, whose changes are previewed before they are made, and `charts/`. Texts are
 * in src/texts. `portal/` has the pages of merchants, with a login of their own.
 */
import express, { type Router } from 'express';
import type { Context } from '../../context.ts';
import { limitReads } from '../../database/limit-statement-time.ts';
import { openIssuer } from '../../oidc/open-issuer.ts';
import { refuse } from '../../texts/refuse.ts';
import type { AuthGuard } from '../access/guard-auth-attempts.ts';
import { answerWithoutDatabase } from '../answer-without-database.ts';
import { createRouter } from '../create-router.ts';
import { createApiDocument } from '../openapi/create-documents.ts';
import { auditPages } from './access/list-audit.ts';
import { tokenPages } from './access/list-tokens.ts';
import { userPages } from './access/list-users.ts';
import { issuerLoginPages } from './access/log-in-by-issuer.ts';
import { languageForm } from './access/set-language.ts';
import { loginPages } from './access/show-login.ts';
import { alertListPages } from './alerts/list-alerts.ts';
import { runbookPages } from './alerts/show-runbook.ts';
import { statedLists } from './balances/list-stated.ts';
import { platformNamePages } from './balances/platform-names.ts';
import { reversalForms } from './balances/reversal-forms.ts';
import { balancePage } from './balances/show-balances.ts';
import { statedForms } from './balances/stated-forms.ts';
import { bankForms } from './bank/bank-forms.ts';
import { bankLists } from './bank/list-bank.ts';
import { bankPage } from './bank/show-bank.ts';
import { deliveryCharts } from './charts/show-deliveries.ts';
import { moneyCharts } from './charts/show-money.ts';
import { expectedSection } from './expected/list-expected.ts';
import { accountMapPages } from './imports/account-map.ts';
import { importPages } from './imports/import-pages.ts';
import { callbackListPages } from './merchants/list-callbacks.ts';
import { merchantListPages } from './merchants/list-merchants.ts';
import { merchantForms } from './merchants/merchant-forms.ts';
import { portalTokenForm } from './merchants/portal-token.ts';
import { replayForm } from './merchants/replay-form.ts';
import { secretForms } from './merchants/secret-forms.ts';
import { callbackPages } from './merchants/show-callback.ts';
import { merchantPages } from './merchants/show-merchant.ts';
import { mismatchForms } from './mismatches/handle-mismatch.ts';
import { handleMismatchesPages } from './mismatches/handle-mismatches.ts';
import { mismatchListPages } from './mismatches/list-mismatches.ts';
import { mismatchPages } from './mismatches/show-mismatch.ts';
import { monthForms } from './months/month-forms.ts';
import { monthClosePage } from './months/show-month-close.ts';
import { overviewPage } from './overview/show-overview.ts';
import { chooseLanguage } from './parts/choose-language.ts';
import { FORM_BYTES_MAX } from './parts/fields.ts';
import { refuseRepeated } from './parts/parse-filters.ts';
import { requireSession } from './parts/require-session.ts';
import { readRestored } from './parts/restored.ts';
import { assetRoutes } from './parts/serve-assets.ts';
import { setSecurityHeaders } from './parts/set-security-headers.ts';
import { showErrors } from './parts/show-error.ts';
import { dayPages } from './reports/show-day.ts';
import { monthPages } from './reports/show-month.ts';
import { runListPages } from './runs/list-runs.ts';
import { runPages } from './runs/show-run.ts';
import { openapiPages } from './system/show-openapi.ts';
import { systemPages } from './system/show-system.ts';
import { transactionListPages } from './transactions/list-transactions.ts';
import { transactionPages } from './transactions/show-transaction.ts';
import { webhookListPages } from './webhooks/list-webhooks.ts';
import { purgeWebhooksPages } from './webhooks/purge-webhooks.ts';
import { webhookPages } from './webhooks/show-webhook.ts';

/** The first path segment of each address of the console. Other addresses belong to the API and the receiver. */
const SEGMENTS =
  'expected|login|logout|language|console|transactions|alerts|runbooks|mismatches|balances|charts|inbox|reconciliations|reports|merchants|callbacks|system|tokens|users|audit|openapi';
const CONSOLE_PATH = new RegExp(`^/(?:$|(?:${SEGMENTS})(?:/|$))`);

/** Routes of the console. Other addresses pass on to the next handler. */
export function consoleRoutes(context: Context, guard: AuthGuard): Router {
  const router = createRouter();
  router.use((request, _response, next) => next(CONSOLE_PATH.test(request.path) ? undefined : 'router'));
  const [issuer, errors] = [openIssuer(context), showErrors(context)];
  router.use(chooseLanguage(), setSecurityHeaders(), answerWithoutDatabase(context, errors));
  router.use(express.urlencoded({ extended: false, limit: FORM_BYTES_MAX }));
  router.use(assetRoutes(), loginPages(context, guard, issuer), languageForm(context), runbookPages());
  if (issuer) router.use(issuerLoginPages(context, issuer));
  router.use(requireSession(context, guard), readRestored(context), refuseRepeated());
  // pages that only read end with their statement; a form's change, and a file, may take longer
  const reading = limitReads(context);
  router.use([
    overviewPage(reading),
    transactionListPages(context),
    transactionPages(reading),
    alertListPages(reading),
    mismatchListPages(reading),
    mismatchForms(context),
    mismatchPages(reading),
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
    expectedSection(context, reading),
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

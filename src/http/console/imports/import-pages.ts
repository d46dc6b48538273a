/**
 * The page on which people import files: the templates, a form with a file, and what was imported. The answer to the form is
 * a preview, or all faults of the file by row and column. The preview's own form repeats the file and carries a key of it;
 * with it the file is imported, once however often it is sent.
 */
import type { Request, Response, Router } from 'express';
import { mayActAs } from '../../../access/roles.ts';
import type { Context } from '../../../context.ts';
import { ConfereError } from '../../../domain/errors.ts';
import {
  type ImportedFile,
  type ImportPreview,
  importFile,
  isRepeated,
  previewImport,
} from '../../../imports/import-file.ts';
import { type Answers, ChangedSincePreviewError, ImportRefusedError } from '../../../imports/import-kind.ts';
import {
  bytesMaxOf,
  findImportKind,
  IMPORT_KIND_NAMES,
  IMPORT_ROLES,
  isImportKind,
} from '../../../imports/import-kinds.ts';
import { listMappedAccounts } from '../../../imports/kinds/bank-csv.ts';
import { renderTemplate, TEMPLATE_FORMATS } from '../../../imports/render-template.ts';
import { findNamedAccount, listBankAccounts, readBankAccounts } from '../../../ledger/stated/bank-accounts.ts';
import { language } from '../../../texts/language.ts';
import { t } from '../../../texts/translate.ts';
import { getActor, getCaller, requireRole } from '../../access/authorize.ts';
import { sendTemplate } from '../../api/imports/imports.ts';
import { createRouter } from '../../create-router.ts';
import { IMPORT_ADDRESS } from '../../read-upload.ts';
import { nameActors } from '../access/name-actors.ts';
import { BANK } from '../balances/describe-stated.ts';
import { halfOf, keyOf } from '../forms/preview-key.ts';
import { choiceField, type Draft, labelled } from '../parts/fields.ts';
import { formatCount } from '../parts/format.ts';
import { type Html, html, tHtml } from '../parts/html.ts';
import { facts, idText } from '../parts/page-components.ts';
import { readFormField } from '../parts/parse-filters.ts';
import { readPlatformNames } from '../parts/read-platform-names.ts';
import { renderPreview } from '../parts/render-preview.ts';
import { sendPage, uploadForm } from '../parts/send-page.ts';
import { csvColumnPages } from './csv-columns.ts';
import { describeLeftOut, renderFaults } from './describe-faults.ts';
import { changeColumns, columnsForm, hiddenAnswers, questionForm, readAnswers } from './question-fields.ts';
import { renderAccounts } from './render-accounts.ts';
import { renderDecisions } from './render-decisions.ts';
import { allowField, renderEqual } from './render-equal.ts';
import { renderImports } from './render-imports.ts';
import { renderOrders } from './render-orders.ts';
import { renderNewLines, renderStatements } from './render-statements.ts';
import { renderTemplates } from './render-templates.ts';
import { suggestMapped } from './suggest-columns.ts';

const ADDRESS = IMPORT_ADDRESS;
/** The page of columns leads to a preview too, at another address. */
const FORM = { path: ADDRESS };
const MIB = 1024 * 1024;
const FILE_TYPES = '.xlsx,.csv,.ofx,.OFX,.xml,.zip';

export function importPages(context: Context): Router {
  const router = createRouter();
  router.get(ADDRESS, requireRole(...IMPORT_ROLES), async (request, response) => {
    const draft: Draft = {
      values: { kind: typeof request.query.kind === 'string' ? request.query.kind : '' },
      faults: {},
    };
    await sendForm(context, request, response, draft);
  });

  router.get(`${ADDRESS}/:kind/:file`, requireRole(...IMPORT_ROLES), async (request, response) => {
    const kind = String(request.params.kind);
    const format = TEMPLATE_FORMATS.find((one) => request.params.file === `template.${one}`);
    const template = format && isImportKind(kind) && (await renderTemplate(context, kind, format, language()));
    if (!format || !isImportKind(kind) || !template) throw new ConfereError('not_found', 'there is no such template');
    sendTemplate(response, { kind, format, template });
  });

  router.post(ADDRESS, requireRole(...IMPORT_ROLES), async (request, response) => {
    const kind = readFormField(request, 'kind') ?? '';
    const file = readFormField(request, 'file') ?? '';
    const answers = isImportKind(kind) ? readAnswers(request, findImportKind(kind)) : {};
    if (answers.account !== undefined) answers.account = await findNamedAccount(context.db, answers.account);
    const draft: Draft = { values: { ...answers, kind, file }, faults: {} };
    if (!isImportKind(kind)) draft.faults.kind = t('Escolha o tipo.');
    else if (!mayActAs(getCaller(response).role, ...findImportKind(kind).roles))
      draft.faults.kind = t('O seu papel não permite importar isto.');
    if (file === '') draft.faults.file = t('Escolha um arquivo.');
    if (!isImportKind(kind) || Object.keys(draft.faults).length > 0) {
      await sendForm(context, request, response, draft);
      return;
    }
    const given = { kind, bytes: Buffer.from(file, 'base64'), answers };
    await answerRefused(context, request, response, draft, given);
  });
  router.use(
    csvColumnPages(context, async (request, response, file) => {
      const values = { ...file.answers, kind: file.kind, file: file.bytes.toString('base64') };
      await answerRefused(context, request, response, { values, faults: {} }, file);
    }),
  );
  return router;
}

/** Answers a file, or a form with all its faults. */
async function answerRefused(
  context: Context,
  request: Request,
  response: Response,
  draft: Draft,
  given: ImportedFile,
): Promise<void> {
  const { kind, answers = {} } = given;
  const file = draft.values.file ?? '';
  try {
    await answerFile(context, request, response, draft, given);
  } catch (error) {
    if (!(error instanceof ImportRefusedError)) throw error;
    const names = kind === 'bank' ? await readBankAccounts(context.db) : undefined;
    const known = names ? await listBankAccounts(context.db) : [];
    const isMapped = error.faults.some((one) => one.kind === 'csv_account');
    const mapped = isMapped ? await listMappedAccounts(context.db, given.bytes) : [];
    const accounts = {
      words: Object.fromEntries(known.map((one) => [one, names?.get(one)?.name ?? one])),
      ...{ mapped: mapped.map(({ account }) => account), suggested: suggestMapped(given.bytes, mapped) },
    };
    const asked = questionForm(response, findImportKind(kind), error.faults, { kind, file, answers, accounts });
    const isForeign = kind === 'bank' && error.faults.some((one) => one.kind === 'header' || one.kind === 'csv_header');
    const faults = renderFaults(kind, error.faults);
    if (isForeign) {
      const body = html`${columnsForm(response, file, answers.account)}<details><summary>${t('Se o arquivo é o modelo do Confere')}</summary>${faults}</details>`;
      await sendForm(context, request, response, draft, body);
      return;
    }
    draft.faults.file = t('Nada foi importado: corrija o arquivo e envie-o de novo.');
    const change = await renderChange(context, response, given);
    await sendForm(context, request, response, draft, html`${faults}${asked}${change}`);
  }
}

/** The way to other columns, for a bank's CSV whose columns are known. */
async function renderChange(
  { db }: Context,
  response: Response,
  { kind, bytes, answers = {} }: ImportedFile,
): Promise<Html | undefined> {
  const mapped = kind === 'bank' ? await listMappedAccounts(db, bytes) : [];
  return mapped.some(({ account }) => (answers.account ?? account) === account)
    ? changeColumns(response, bytes.toString('base64'), answers.account)
    : undefined;
}

/** Imports the file that a preview showed, or previews it. @throws ImportRefusedError. */
async function answerFile(
  context: Context,
  request: Request,
  response: Response,
  draft: Draft,
  given: ImportedFile,
): Promise<void> {
  const [key, basis] = [readFormField(request, 'key') ?? '', readFormField(request, 'seen') ?? ''];
  const isKey = key === keyOf(FORM, response, { values: draft.values, seen: basis }, halfOf(key));
  const preview = async (isStale: boolean): Promise<void> => {
    const { answers = {} } = given;
    let lines: Html | undefined;
    const seen = await previewImport(context, given, {
      allowEqual: true,
      inspect: async (inner, { bank }) => {
        lines = bank && (await renderNewLines(inner, bank));
      },
    });
    const change = await renderChange(context, response, given);
    await sendPreview(context, request, response, { draft, answers, preview: seen, lines, change, isStale });
  };
  if (readFormField(request, 'step') !== 'confirm' || !isKey) {
    await preview(false);
    return;
  }
  try {
    const allowEqual = readFormField(request, 'allow_equal') === 'true';
    const made = await importFile(context, given, { actor: getActor(response), key, basis, allowEqual });
    const page = given.kind === 'bank' ? BANK.address : ADDRESS;
    response.redirect(303, `${page}?done=${made && isRepeated(made) ? 'repeated' : 'imported'}`);
  } catch (error) {
    if (!(error instanceof ChangedSincePreviewError)) throw error;
    await preview(true);
  }
}

async function sendForm(
  context: Context,
  request: Request,
  response: Response,
  draft: Draft,
  faults?: Html,
): Promise<void> {
  const { role } = getCaller(response);
  const kinds = IMPORT_KIND_NAMES.filter((name) => mayActAs(role, ...findImportKind(name).roles));
  const words = Object.fromEntries(kinds.map((name) => [name, findImportKind(name).titles[language()]]));
  const hint = t(
    'XLSX ou CSV, até {table} MiB: só a primeira aba é lida. Extrato bancário também em OFX, até {ofx} MiB; notas fiscais em XML ou ZIP, até {zip} MiB.',
    {
      table: bytesMaxOf('accounts') / MIB,
      ofx: bytesMaxOf('bank') / MIB,
      zip: bytesMaxOf('nfe') / MIB,
    },
  );
  const content = html`<div class="fields">${choiceField(draft, { name: 'kind', label: 'Tipo', words, any: 'Escolha' })}
${labelled(draft, { name: 'file', label: 'Arquivo', hint }, (attributes) => html`<input type="file" accept="${FILE_TYPES}" required${attributes}>`)}</div>
<div class="actions"><button>${t('Conferir o arquivo')}</button></div>
<p class="hint">${t('Nada é gravado antes de você confirmar na próxima página.')}</p>`;
  const body = html`${CRUMB()}<h1>${t('Importar um arquivo')}</h1>
<p class="lead">${t('Todas as linhas são importadas, ou nenhuma. O mesmo arquivo, outra vez, não importa nada.')}</p>
${faults}<section class="act">${uploadForm(response, ADDRESS, content)}</section>
<section><h2>${t('Modelos')}</h2>${renderTemplates(kinds)}</section>
<section><h2>${t('Importados')}</h2>${await renderImports(context, response)}</section>`;
  const isWrong = Object.keys(draft.faults).length > 0;
  sendPage(request, response, { title: t('Importar um arquivo'), body, status: isWrong ? 422 : 200 });
}

const CRUMB = (): Html => html`<p class="crumb"><a href="/balances">${t('Saldos')}</a></p>`;

async function sendPreview(
  context: Context,
  request: Request,
  response: Response,
  shown: {
    draft: Draft;
    answers: Answers;
    preview: ImportPreview;
    isStale: boolean;
    lines: Html | undefined;
    change: Html | undefined;
  },
): Promise<void> {
  const { draft, answers, preview, lines, change, isStale } = shown;
  const { kind, rows, changed, sha256, repeats, equal, basis, bank, leftOut, decisions, orders, accounts } = preview;
  const title = t('{name}: confira', { name: t('Importar um arquivo') });
  const nameOf = await nameActors(context, response, [repeats?.by, ...equal.map(({ by }) => by)]);
  const about = facts([
    ['Tipo', findImportKind(kind).titles[language()]],
    ['Linhas', formatCount(rows)],
    ['Linhas que mudam algo', formatCount(changed)],
    ['Linhas deixadas de fora', describeLeftOut(leftOut)],
    ['SHA-256', idText(sha256)],
  ]);
  const content = html`<input type="hidden" name="kind" value="${kind}"><input type="hidden" name="file" value="${draft.values.file}">
<input type="hidden" name="seen" value="${basis}"><input type="hidden" name="key" value="${keyOf(FORM, response, { values: draft.values, seen: basis })}">
${hiddenAnswers(answers)}${allowField(equal)}<div class="actions"><button name="step" value="confirm">${t('Confirmar')}</button><a href="${ADDRESS}">${t('Cancelar')}</a></div>`;
  const before =
    isRepeated(preview) &&
    html`<p class="hint">${tHtml('Este arquivo já foi importado, por {by}: nada seria importado outra vez.', { by: nameOf(repeats?.by) })}</p>`;
  const stale =
    isStale &&
    html`<p class="fault" role="alert">${t('Mudou depois da prévia que você viu: confira de novo o que muda.')}</p>`;
  const body = html`${CRUMB()}<h1>${title}</h1><p class="lead">${t('Nada foi gravado ainda.')}</p>${stale}${about}
${before || html`${bank && renderStatements(bank)}${lines}${decisions && renderDecisions(decisions)}${orders && renderOrders(orders, await readPlatformNames(context, response))}${accounts && renderAccounts(accounts, await readPlatformNames(context, response), await readBankAccounts(context.db))}${renderEqual(context, equal, nameOf)}${await renderPreview(context, preview.change)}<section class="act bare">${uploadForm(response, ADDRESS, content)}</section>`}${change}`;
  sendPage(request, response, { title, body, status: isStale ? 409 : 200 });
}

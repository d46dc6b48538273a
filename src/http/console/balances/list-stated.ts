import type { Response, Router } from 'express';
import type { Context } from '../../../context.ts';
import { maskNote } from '../../../domain/person/mask-mismatch.ts';
import { WITHHELD } from '../../../domain/person/mask-person.ts';
import { type AdjustmentKind, listAdjustments } from '../../../ledger/stated/adjust-books.ts';
import { listOpenings } from '../../../ledger/stated/open-books.ts';
import { listStatements } from '../../../ledger/stated/state-balance.ts';
import { auditPersonalAccess, canSeePersonalData } from '../../access/authorize.ts';
import { presentPlatform } from '../../access/mask-texts.ts';
import { createRouter } from '../../create-router.ts';
import { readPage } from '../../parse-page.ts';
import { t } from '../languages/translate.ts';
import { EMPTY_VALUE, moment, moneyOf, shortId } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { badge, dayLink, type TableColumn, table } from '../parts/page-components.ts';
import { sendList } from '../parts/send-list.ts';
import { hasRole } from '../parts/send-page.ts';
import { ADJUSTMENT_KIND_WORDS, balanceTabs, LISTS } from './describe-stated.ts';
import { namePlatform } from './form-fields.ts';

/** Rows of a page of statements: each is compared with the ledger anew, in about 5 ms. */
const STATEMENTS_SHOWN = 10;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type Made = { created_at: string; created_by: string };

/** The lists of stated balances, adjustments and openings: with who entered each, and when. */
export function statedLists(context: Context): Router {
  const router = createRouter();
  router.get(LISTS.statements.address, async (request, response) => {
    const { rows, next } = await readPage(context, request, listStatements, STATEMENTS_SHOWN);
    const lead = balanceTabs(response, LISTS.statements.address);
    sendList(request, response, { ...LISTS.statements, lead, rows: statementTable(context, response, rows), next });
  });

  router.get(LISTS.adjustments.address, async (request, response) => {
    const { rows, next } = await readPage(context, request, ({ db }, ...page) => listAdjustments(db, ...page));
    await auditPersonalAccess(context, response, 'adjustments.list', 'notes', 'console');
    const lead = balanceTabs(response, LISTS.adjustments.address);
    sendList(request, response, { ...LISTS.adjustments, lead, rows: adjustmentTable(context, response, rows), next });
  });

  router.get(LISTS.openings.address, async (request, response) => {
    const { rows, next } = await readPage(context, request, ({ db }, ...page) => listOpenings(db, ...page));
    const lead = balanceTabs(response, LISTS.openings.address);
    sendList(request, response, { ...LISTS.openings, lead, rows: openingTable(context, response, rows), next });
  });
  return router;
}

function statementTable(context: Context, response: Response, rows: Awaited<ReturnType<typeof listStatements>>): Html {
  return table({
    caption: 'Saldos informados, os mais novos primeiro',
    rows,
    empty: 'Ninguém informou um saldo até agora.',
    columns: [
      { title: 'Plataforma', cell: (row) => platformCell(response, row) },
      { title: 'Instante', cell: (row) => moment(context.calendar, row.at) },
      { title: 'Informado', cell: (row) => moneyOf(row.balance), align: 'end' },
      { title: 'No razão', cell: (row) => moneyOf(row.ledger), align: 'end' },
      {
        title: 'Diferença',
        cell: (row) => (row.difference === '0.00' ? badge({ yes: t('Confere') }, 'yes') : moneyOf(row.difference)),
        align: 'end',
      },
      ...madeColumns<(typeof rows)[number]>(context),
    ],
  });
}

function adjustmentTable(
  context: Context,
  response: Response,
  rows: Awaited<ReturnType<typeof listAdjustments>>,
): Html {
  const [full, mayReverse] = [canSeePersonalData(response), hasRole(response, 'accountant')];
  return table({
    caption: 'Ajustes, os mais novos primeiro',
    rows,
    empty: 'Nenhum ajuste até agora.',
    columns: [
      { title: 'Dia', cell: (row) => dayLink(row.day) },
      { title: 'Plataforma', cell: (row) => platformCell(response, row) },
      { title: 'Tipo', cell: (row) => ADJUSTMENT_KIND_WORDS[row.kind as AdjustmentKind] },
      { title: 'Valor', cell: (row) => moneyOf(row.amount), align: 'end' },
      { title: 'Por quê', cell: (row) => html`<span class="long">${full ? row.note : maskNote(row.note)}</span>` },
      ...madeColumns<(typeof rows)[number]>(context),
      {
        title: 'Situação',
        cell: (row) => {
          if (row.reverses !== null) return t('Estorno');
          if (row.reversed_by !== null) return t('Estornado');
          return mayReverse
            ? html`<a href="${LISTS.adjustments.address}/${row.id}/reverse">${t('Estornar')}</a>`
            : t('Em vigor');
        },
      },
    ],
  });
}

function openingTable(context: Context, response: Response, rows: Awaited<ReturnType<typeof listOpenings>>): Html {
  const mayReverse = hasRole(response, 'admin');
  return table({
    caption: 'Saldos iniciais, os mais novos primeiro',
    rows,
    empty: 'Nenhum saldo inicial: os livros começam na primeira transação conhecida.',
    columns: [
      { title: 'Plataforma', cell: (row) => platformCell(response, row) },
      { title: 'Primeiro dia', cell: (row) => dayLink(row.day) },
      { title: 'Saldo', cell: (row) => moneyOf(row.balance), align: 'end' },
      ...madeColumns<(typeof rows)[number]>(context),
      {
        title: 'Situação',
        cell: (row) => {
          if (row.reversed) return t('Estornado');
          return mayReverse
            ? html`<a href="${LISTS.openings.address}/${row.id}/reverse">${t('Estornar')}</a>`
            : t('Em vigor');
        },
      },
    ],
  });
}

function madeColumns<Row extends Made>(context: Context): TableColumn<Row>[] {
  return [
    {
      title: 'Quem',
      cell: (row) => (row.created_by === '' ? EMPTY_VALUE : shortId(row.created_by)),
    },
    { title: 'Quando', cell: (row) => moment(context.calendar, row.created_at) },
  ];
}

/** A platform, with a link to its transactions; withheld from viewers where it may name a person. */
export function platformCell(response: Response, row: { platform: string }): Html {
  const { platform } = presentPlatform(response, row);
  if (platform === WITHHELD) return html`${WITHHELD}`;
  return html`<a class="id" href="/transactions?platform=${encodeURIComponent(platform)}">${UUID.test(platform) ? shortId(platform) : namePlatform(platform)}</a>`;
}

import type { Request, Response, Router } from 'express';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { parseSum } from '../../../domain/money.ts';
import { PLATFORM_CHARS_MAX } from '../../../domain/platform.ts';
import { readBankAccounts } from '../../../ledger/stated/bank-accounts.ts';
import { adjustments, undoAdjustment } from '../../../operations/books/adjustments.ts';
import { openings, undoOpening } from '../../../operations/books/openings.ts';
import { statements } from '../../../operations/books/statements.ts';
import type { List, RowOf } from '../../../operations/define-list.ts';
import { t, words } from '../../../texts/translate.ts';
import { createRouter } from '../../create-router.ts';
import { readListPage } from '../../mount-operations.ts';
import { nameActors } from '../access/name-actors.ts';
import { encryptAddress, encryptFilters, type Filters, readSealedFilters } from '../parts/encrypt-filters.ts';
import { type Draft, platformField } from '../parts/fields.ts';
import { moment, moneyOf } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { badge, dayLink, type TableColumn, table } from '../parts/page-components.ts';
import { filterText, isFiltered } from '../parts/parse-filters.ts';
import {
  listPlatformWords,
  type PlatformNames,
  platformLink,
  readPlatformNames,
} from '../parts/read-platform-names.ts';
import { sendList, sendWrongFilters } from '../parts/send-list.ts';
import { formTokenField, hasRole } from '../parts/send-page.ts';
import { type AccountNames, balanceTabs, LISTS, nameAdjustment, showAccount } from './describe-stated.ts';
import { adjustmentFields, adjustmentQuery, adjustmentSums, sendAdjustments } from './list-adjustments.ts';

/** Rows of a page of statements: each is compared with the ledger anew, in about 5 ms. */
const STATEMENTS_SHOWN = 10;

const REPLACED = words({ replaced: 'substituído' });

const PLATFORMS_MAX = 1_000;

const byPlatform = z.object({ platform: filterText(PLATFORM_CHARS_MAX) });

type Made = { created_at: string; created_by: string };

/** The lists of stated balances, adjustments and openings: with who entered each, and when. */
export function statedLists(context: Context): Router {
  const router = createRouter();
  statedList(context, router, statements, { rowsShown: STATEMENTS_SHOWN, render: statementTable, query: byPlatform });
  statedList(context, router, adjustments, {
    ...{ render: adjustmentTable, query: adjustmentQuery, fields: adjustmentFields },
    ...{ lead: adjustmentSums, send: sendAdjustments, personal: 'inside' },
  });
  statedList(context, router, openings, { render: openingTable, query: byPlatform });
  return router;
}

/** How the reader knows platforms and actors. */
type Shown = {
  names: PlatformNames;
  nameOf: Awaited<ReturnType<typeof nameActors>>;
  response: Response;
  /** Names of bank accounts. */
  banks: AccountNames;
  /** Whether a filter is set. */
  areSet?: boolean;
};

type ByPlatform = { platform?: string | undefined };

type Stated<Row, Filter> = {
  rowsShown?: number;
  render: (context: Context, rows: NoInfer<Row>[], shown: Shown) => Html;
  query: z.ZodType<Filter>;
  /** The fields of its filters beside the platform. */
  fields?: (context: Context, response: Response, draft: Draft) => Promise<Html[]>;
  lead?: (context: Context, filters: Filter, addressOf: (format: string) => string) => Promise<Html>;
  /** The filter that may name a person: the form is posted, so that no address has it. */
  personal?: string;
  /** Sends it as a file. */
  send?: (context: Context, request: Request, response: Response, filters: Filter) => Promise<void>;
};

/** A list with a filter by platform, and perhaps others. */
function statedList<Row extends Made & { seq: number }, Filter extends ByPlatform>(
  context: Context,
  router: Router,
  declared: List<Row, Filter> & { name: string },
  { rowsShown, render, query, personal, ...more }: Stated<Row, Filter>,
): void {
  const name = declared.name as keyof typeof LISTS;
  const list = LISTS[name];
  const readForm = async (response: Response, draft: Draft) => {
    const names = await readPlatformNames(context, response);
    const known = await context.db.selectFrom(name).select('platform').distinct().limit(PLATFORMS_MAX).execute();
    const platforms = known.map(({ platform }) => platform);
    const words = listPlatformWords(response, platforms, names);
    const fields = [platformField(draft, words), await more.fields?.(context, response, draft)];
    return { names, platforms, form: { fields, ...(personal ? { token: formTokenField(response) } : {}) } };
  };
  const sealed = {
    ...{ schema: query, field: personal ?? 'platform' },
    refuse: async (request: Request, response: Response, draft: Draft) => {
      const { form } = await readForm(response, draft);
      const tabs = balanceTabs(response, list.address);
      sendWrongFilters(request, response, { ...list, tabs, filters: { ...form, areSet: true } });
    },
  };
  if (personal) router.all(list.address, encryptFilters(context, sealed));
  router.get(list.address, async (request, response) => {
    const { filters, draft, given: typed } = readSealedFilters(context, request, sealed);
    if (filters === undefined) {
      await sealed.refuse(request, response, draft);
      return;
    }
    const { names, platforms, form } = await readForm(response, draft);
    const tabs = balanceTabs(response, list.address);
    if (more.send && request.query.format !== undefined) {
      await more.send(context, request, response, filters);
      return;
    }
    const areSet = isFiltered(filters);
    const given = { filter: filters, via: 'console', ...(rowsShown ? { limitDefault: rowsShown } : {}) } as const;
    const { rows, next } = await readListPage(context, declared, request, response, given);
    const nameOf = await nameActors(
      context,
      response,
      rows.map((row) => row.created_by),
    );
    const shown = render(context, rows, { areSet, names, nameOf, response, banks: await readBankAccounts(context.db) });
    sendList(request, response, {
      ...list,
      tabs,
      ...(platforms.length > 1 || more.fields || areSet ? { filters: { ...form, areSet } } : {}),
      lead: await more.lead?.(context, filters, (format) =>
        encryptAddress(context, request, list.address, { ...pick(typed, Object.keys(filters)), format }),
      ),
      rows: shown,
      next,
    });
  });
}

function pick(typed: Filters, names: string[]): Filters {
  return Object.fromEntries(Object.entries(typed).filter(([name]) => names.includes(name)));
}

function statementTable(context: Context, rows: RowOf<typeof statements>[], { names, nameOf }: Shown): Html {
  return table({
    caption: 'Saldos informados, os mais novos primeiro',
    rows,
    empty: 'Ninguém informou um saldo até agora: informe o que o painel do provedor mostra.',
    columns: [
      { title: 'Plataforma', cell: (row) => platformLink(names, row.platform) },
      { title: 'Instante', cell: (row) => moment(context.calendar, row.at) },
      {
        title: 'Informado',
        cell: (row) => html`${moneyOf(row.balance)}${row.replaced && html` ${badge(REPLACED, 'replaced')}`}`,
        align: 'end',
      },
      { title: 'No razão', cell: (row) => moneyOf(row.ledger), align: 'end' },
      {
        title: 'Diferença',
        cell: (row) => (row.difference === '0.00' ? badge({ yes: t('Confere') }, 'yes') : moneyOf(row.difference)),
        align: 'end',
      },
      ...madeColumns<(typeof rows)[number]>(context, nameOf),
    ],
  });
}

/** Adjustments, each with its reason and who entered it. */
export function adjustmentTable(
  context: Context,
  rows: RowOf<typeof adjustments>[],
  { names, nameOf, response, banks, areSet }: Shown,
): Html {
  const mayReverse = hasRole(response, ...undoAdjustment.roles);
  return table({
    caption: 'Ajustes, os mais novos primeiro',
    rows,
    empty: areSet ? 'Nada com estes filtros: tire um deles.' : 'Nenhum ajuste até agora.',
    columns: [
      { title: 'Dia', cell: (row) => dayLink(row.day) },
      { title: 'Plataforma', cell: (row) => platformLink(names, row.platform) },
      {
        title: 'Tipo',
        cell: ({ kind, amount, reverses, bank_account: account }) =>
          html`${nameAdjustment({ kind, amount: parseSum(amount) ?? 0n }, reverses !== null)}${account && html` ${showAccount(banks, account)}`}`,
      },
      { title: 'Valor', cell: (row) => moneyOf(row.amount), align: 'end' },
      { title: 'Por quê', cell: (row) => html`<span class="long">${row.note}</span>` },
      ...madeColumns<(typeof rows)[number]>(context, nameOf),
      {
        title: 'Situação',
        cell: (row) => {
          if (row.reverses !== null) return t('Estorno');
          return row.reversed_by === null ? inForce(LISTS.adjustments.address, row, mayReverse) : t('Estornado');
        },
      },
    ],
  });
}

function openingTable(context: Context, rows: RowOf<typeof openings>[], { names, nameOf, response }: Shown): Html {
  const mayReverse = hasRole(response, ...undoOpening.roles);
  return table({
    caption: 'Saldos iniciais, os mais novos primeiro',
    rows,
    empty: 'Nenhum saldo inicial: os livros começam na primeira transação conhecida.',
    columns: [
      { title: 'Plataforma', cell: (row) => platformLink(names, row.platform) },
      { title: 'Primeiro dia', cell: (row) => dayLink(row.day) },
      { title: 'Saldo', cell: (row) => moneyOf(row.balance), align: 'end' },
      ...madeColumns<(typeof rows)[number]>(context, nameOf),
      {
        title: 'Situação',
        cell: (row) => (row.reversed ? t('Estornado') : inForce(LISTS.openings.address, row, mayReverse)),
      },
    ],
  });
}

/** The state of an item in force: for those who may reverse it, a link to the form. */
function inForce(address: string, { id }: { id: string }, mayReverse: boolean): Html | string {
  return mayReverse ? html`<a href="${address}/${id}/reverse">${t('Estornar')}</a>` : t('Em vigor');
}

function madeColumns<Row extends Made>(context: Context, nameOf: Shown['nameOf']): TableColumn<Row>[] {
  return [
    { title: 'Quem', cell: (row) => nameOf(row.created_by) },
    { title: 'Quando', cell: (row) => moment(context.calendar, row.created_at) },
  ];
}

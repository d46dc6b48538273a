import type { Response, Router } from 'express';
import type { Context } from '../../../context.ts';
import type { WallTime } from '../../../domain/calendar.ts';
import { formatAmount } from '../../../domain/money.ts';
import { maskAccount } from '../../../domain/person/mask-person.ts';
import { readNewestStatements } from '../../../ledger/stated/state-balance.ts';
import { presentPlatform } from '../../../operations/mask-texts.ts';
import { type Balance, endOfNow, readBalances } from '../../../seal/read-balances.ts';
import { t } from '../../../texts/translate.ts';
import { canSeePersonalData, getCaller } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { type Draft, inputField, parseWall } from '../parts/fields.ts';
import { EMPTY_VALUE, moment, money, moneyOf } from '../parts/format.ts';
import { type Html, html, type Part, tHtml } from '../parts/html.ts';
import { badge, filterForm, table } from '../parts/page-components.ts';
import { readQuery } from '../parts/parse-filters.ts';
import { type PlatformBalance, sumByPlatform } from '../parts/read-platform-balances.ts';
import { type PlatformNames, platformLink, readPlatformNames } from '../parts/read-platform-names.ts';
import { showAccount } from '../parts/render-postings.ts';
import { sendPage } from '../parts/send-page.ts';
import { balanceTabs } from './describe-stated.ts';

type Statement = Awaited<ReturnType<typeof readNewestStatements>>[number];
type Row = PlatformBalance & { statement: Statement | undefined; mismatchId: string | undefined };
type View = { at: WallTime | undefined; known: WallTime | undefined };

/** The page of balances: by platform at an instant, as known then or now, each beside the last stated balance. */
export function balancePage(context: Context): Router {
  const router = createRouter();
  router.get('/balances', async (request, response) => {
    const given = (name: string): string => readQuery(request, name);
    const draft: Draft = { values: { at: given('at'), known: given('known') }, faults: {} };
    const view = { at: readWall(draft, 'at'), known: readWall(draft, 'known') };
    const isWrong = Object.keys(draft.faults).length > 0;
    const fields = [
      inputField(draft, { name: 'at', label: 'Saldo neste instante' }, INSTANT),
      inputField(draft, { name: 'known', label: 'Como se sabia em' }, INSTANT),
    ];
    const isSet = draft.values.at !== '' || draft.values.known !== '';
    const body = html`<h1>${t('Saldos')}</h1>${balanceTabs(response, '/balances')}
${filterForm('/balances', fields, isSet)}
${!isWrong && (await renderBalances(context, response, view))}`;
    sendPage(request, response, { title: t('Saldos'), body, status: isWrong ? 422 : 200 });
  });
  return router;
}

const INSTANT = html` type="datetime-local" step="1"`;

function readWall(draft: Draft, name: string): WallTime | undefined {
  const text = draft.values[name] ?? '';
  const wall = text === '' ? undefined : parseWall(text);
  if (text !== '' && wall === undefined) draft.faults[name] = t('Escolha o dia e a hora.');
  return wall;
}

async function renderBalances(context: Context, response: Response, { at, known }: View): Promise<Html> {
  const { calendar, clock } = context;
  const now = clock.now();
  const until = at ?? endOfNow(context);
  const asOf = known === undefined ? ('now' as const) : { before: calendar.toInstant(known) };
  const { balances } = await readBalances(context.db, until, asOf, now);
  const rows = await addStatements(context, sumByPlatform(balances), until);
  const names = await readPlatformNames(context, response);
  const before = moment(calendar, at === undefined ? now : calendar.toInstant(at));
  const scope =
    known === undefined
      ? tHtml('O que aconteceu antes de {before}, como se sabe agora.', { before })
      : tHtml('O que aconteceu antes de {before}, como se sabia antes de {known}.', {
          before,
          known: moment(calendar, calendar.toInstant(known)),
        });
  const lead = html`<p class="lead">${scope} ${t('A diferença é entre o último saldo informado até ali e o que o razão diz hoje daquele instante.')}</p>`;
  return html`${lead}<section><h2>${t('Por plataforma')}</h2>${balanceTable(context, response, rows, names)}<p><a href="/balances/platforms">${t('Nomes das plataformas')}</a></p></section>
<section><h2>${t('Contas')}</h2><details class="numbers"><summary>${t('Todas as contas do razão')}</summary>${accountTable(response, balances, names)}</details></section>`;
}

/** Adds to each balance the platform's newest statement up to an instant, and platforms that have only that. */
async function addStatements(context: Context, balances: PlatformBalance[], until: WallTime): Promise<Row[]> {
  const statements = new Map((await readNewestStatements(context, until)).map((one) => [one.platform, one]));
  const open = await context.db
    .selectFrom('mismatches')
    .select(['id', 'scope'])
    .where('kind', '=', 'balance_differs')
    .where('state', '!=', 'resolved')
    .execute();
  const mismatches = new Map(open.map(({ id, scope }) => [scope, id]));
  const stated = [...statements.keys()]
    .filter((platform) => !balances.some((one) => one.platform === platform))
    .map((platform) => ({ platform, availableCents: 0n, heldCents: 0n }));
  return [...balances, ...stated].map((one) => ({
    ...one,
    statement: statements.get(one.platform),
    mismatchId: mismatches.get(one.platform),
  }));
}

function balanceTable(context: Context, response: Response, rows: Row[], names: PlatformNames): Html {
  const sum = (of: (row: Row) => bigint): bigint => rows.reduce((total, row) => total + of(row), 0n);
  const total = { available: sum((row) => row.availableCents), held: sum((row) => row.heldCents) };
  const cell = (row: Row | 'total', one: (row: Row) => Part, all: Part): Part =>
    row === 'total' ? html`<b>${all}</b>` : one(row);
  return table<Row | 'total'>({
    caption: 'Saldo por plataforma',
    rows: rows.length > 1 ? [...rows, 'total'] : rows,
    empty: 'Nada foi lançado até este instante.',
    columns: [
      {
        title: 'Plataforma',
        cell: (row) =>
          cell(row, (one) => platformLink(names, presentPlatform(getCaller(response), one).platform), t('Todas')),
      },
      {
        title: 'Disponível',
        cell: (row) => cell(row, (one) => money(one.availableCents), money(total.available)),
        align: 'end',
      },
      { title: 'Retido', cell: (row) => cell(row, (one) => money(one.heldCents), money(total.held)), align: 'end' },
      {
        title: 'Saldo',
        cell: (row) =>
          cell(row, (one) => money(one.availableCents + one.heldCents), money(total.available + total.held)),
        align: 'end',
      },
      {
        title: 'Último informado',
        cell: (row) => cell(row, (one) => statementCell(context, one.statement), EMPTY_VALUE),
        align: 'end',
      },
      { title: 'Diferença', cell: (row) => cell(row, differenceCell, EMPTY_VALUE), align: 'end' },
    ],
  });
}

function statementCell(context: Context, statement: Statement | undefined): Part {
  if (!statement) return EMPTY_VALUE;
  return html`${moneyOf(statement.balance)}<br><span class="hint">${tHtml('em {at}', { at: moment(context.calendar, statement.at) })}</span>`;
}

function differenceCell({ statement, mismatchId }: Row): Part {
  if (!statement) return EMPTY_VALUE;
  if (statement.difference === '0.00') return badge({ yes: t('Confere') }, 'yes');
  const next =
    mismatchId === undefined
      ? html`<span class="hint">${t('o dia ainda não foi lido até lá')}</span>`
      : html`<a href="/mismatches/${mismatchId}">${t('ver a divergência')}</a>`;
  return html`${moneyOf(statement.difference)}<br>${next}`;
}

function accountTable(response: Response, balances: Balance[], names: PlatformNames): Html {
  const full = canSeePersonalData(response);
  return table({
    caption: 'Saldo de cada conta, débito positivo',
    rows: balances,
    empty: 'Nada foi lançado até este instante.',
    columns: [
      {
        title: 'Conta',
        cell: ({ account }) => showAccount(names, full ? account : maskAccount(account)),
      },
      { title: 'Saldo', cell: ({ cents }) => moneyOf(formatAmount(cents)), align: 'end' },
    ],
  });
}

import type { Response, Router } from 'express';
import { auditChangeOnce } from '../../../access/audit.ts';
import type { Context } from '../../../context.ts';
import { closeOneMonth, reopenOneMonth } from '../../../operations/books/months.ts';
import { prepareClose, readMonthDigest, writeClose } from '../../../reports/months/close-month.ts';
import type { ShownMonth } from '../../../reports/months/list-months.ts';
import type { Refusal } from '../../../reports/months/refusal.ts';
import { describeReopening, writeReopening } from '../../../reports/months/reopen-month.ts';
import { refuse } from '../../../texts/refuse.ts';
import { t } from '../../../texts/translate.ts';
import { createRouter } from '../../create-router.ts';
import { feePages } from '../fees/show-fees.ts';
import { serveTwoStepForm } from '../forms/serve-two-step-form.ts';
import type { TwoStepForm } from '../forms/two-step-form.ts';
import { noteField, readNote } from '../parts/fields.ts';
import { type Html, html, type Part } from '../parts/html.ts';
import { facts } from '../parts/page-components.ts';
import { readNamesInFull, showPlatform } from '../parts/read-platform-names.ts';
import { nameMonth } from '../reports/month.ts';
import { leftOpenNotice, readRefused, refusalList } from './explain-refusal.ts';
import { platformMonthTable, readPlatformMonths } from './render-balances.ts';
import { findMonth } from './show-month-close.ts';

const SECTION = { address: '/reports', title: 'Relatórios' } as const;
const listOf = ({ month }: ShownMonth) => ({
  address: `/reports/months/${month}`,
  title: t('Fechamento de {month}', { month: nameMonth(month) }),
});

/** The forms that close and reopen a month, and the page of its fees. */
export function monthForms(context: Context): Router {
  const router = createRouter();
  router.use([serveTwoStepForm(context, closeForm(context)), serveTwoStepForm(context, reopenForm(context))]);
  router.use(feePages(context));
  return router;
}

type Closing = { note: string | undefined };

function closeForm(context: Context): TwoStepForm<Closing, ShownMonth> {
  const prepare = ({ note }: Closing, { month }: ShownMonth, actor: string) =>
    prepareClose(context, { month, note, actor, via: 'console' });
  return {
    address: '/reports/months/:id/close',
    roles: closeOneMonth.roles,
    section: SECTION,
    list: listOf,
    title: 'Fechar o mês',
    lead: 'As cifras do mês ficam como estão agora, na planilha, no CSV e no diário. O que o Confere ainda souber dele é lançado como antes e aparece na planilha do mês seguinte.',
    names: ['note'],
    find: ({ params }) => findMonth(context, params.id),
    isOpen: ({ refusals }) => Promise.resolve(refusals.length === 0),
    // what the step fixes, also while something hinders it
    above: (month, response) => renderBalances(context, response, month, false),
    fields: async (draft, month, response) =>
      html`${describeMonth(month)}${await listReasons(context, response, month.refusals)}${month.refusals.length === 0 && noteField(draft, 'Observação')}`,
    read: (draft) => ({ note: draft.values.note || undefined }),
    async preview(value, month, response) {
      if (month.close) throw refuse('month_closed', { month: month.month });
      const { row } = await prepare(value, month, 'preview');
      const position = facts([
        ['Observação', value.note],
        ['Posição do razão', row.cut_seal_position],
      ]);
      return html`${describeMonth(month)}${position}${leftOpenNotice(month)}${await renderBalances(context, response, month, false)}`;
    },
    basis: async (inner, { month }) => (await readMonthDigest(inner, month)).toString('hex'),
    async make(_context, value, { by, item, once }) {
      const prepared = await prepare(value, item, by.caller.id);
      const { name: action } = closeOneMonth;
      const done = { actor: by.caller.id, action, target: item.month, detail: prepared.detail };
      const close = async (inner: Context) => {
        await once.check(inner);
        await writeClose(inner, prepared);
      };
      await auditChangeOnce(context, once.key, close, done);
    },
    done: 'month_closed',
  };
}

function reopenForm(context: Context): TwoStepForm<string, ShownMonth> {
  return {
    address: '/reports/months/:id/reopen',
    roles: reopenOneMonth.roles,
    section: SECTION,
    list: listOf,
    title: 'Reabrir o mês',
    lead: 'A planilha do mês volta a mostrar as cifras de agora, e o mês pode ser fechado de novo. O fechamento continua registrado.',
    names: ['note'],
    find: ({ params }) => findMonth(context, params.id),
    fields: async (draft, month, response) =>
      html`${describeMonth(month)}${await listReasons(context, response, month.laterCloses)}${noteField(draft, 'Por que reabrir')}`,
    read: readNote,
    async preview(note, month, response) {
      if (!month.close || month.laterCloses.length > 0) throw refuse('month_not_closed', { month: month.month });
      return html`${describeMonth(month)}${facts([['Por que reabrir', note]])}${await renderBalances(context, response, month, true)}`;
    },
    async make(_context, note, { by, item: { month }, once }) {
      const done = { actor: by.caller.id, action: reopenOneMonth.name, target: month };
      const reopen = async (inner: Context) => {
        await once.check(inner);
        return await writeReopening(inner, { month, note, actor: done.actor });
      };
      await auditChangeOnce(context, once.key, reopen, (written) => ({
        ...{ ...done, detail: describeReopening({ ...written, via: 'console' }) },
      }));
    },
    done: 'month_reopened',
  };
}

async function listReasons(context: Context, response: Response, refusals: Refusal[]): Promise<Part> {
  const names = await readNamesInFull(context);
  const showName = (id: string) => showPlatform(names, id);
  const of = {
    calendar: context.calendar,
    showPlatform: showName,
    ...(await readRefused(context, response, refusals)),
  };
  return refusalList(of, refusals);
}

function describeMonth({ month }: ShownMonth): Html {
  return facts([['Mês', nameMonth(month)]]);
}

/** The balances that a close fixes, or those that it fixed with what changed since. */
async function renderBalances(
  context: Context,
  response: Response,
  month: ShownMonth,
  isClosed: boolean,
): Promise<Html> {
  const rows = await readPlatformMonths(context, month);
  return platformMonthTable(response, await readNamesInFull(context), { rows, isClosed });
}

import type { Response, Router } from 'express';
import { countBackfill } from '../../../callbacks/backfill/count-backfill.ts';
import { previewFilter } from '../../../callbacks/manage/preview-filter.ts';
import type { Context } from '../../../context.ts';
import { listPlatforms } from '../../../ledger/read/list-platforms.ts';
import { filtersOf, isWithin, parseFilter } from '../../../merchants/match-filter.ts';
import { presentMerchant } from '../../../merchants/present-merchant.ts';
import { findMerchant, type MerchantRow } from '../../../merchants/read-merchants.ts';
import { authorizeFilter } from '../../../operations/authorize-search.ts';
import type { MadeOf } from '../../../operations/define-change.ts';
import { addMerchant, changeMerchant } from '../../../operations/merchants/merchants.ts';
import { type Label, type PlainText, t, translate } from '../../../texts/translate.ts';
import { getCaller } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { serveTwoStepForm } from '../forms/serve-two-step-form.ts';
import { ofChange, type TwoStepForm } from '../forms/two-step-form.ts';
import { moment } from '../parts/format.ts';
import { type Html, html, type Part, tHtml } from '../parts/html.ts';
import { buttonLink, facts, idText, table } from '../parts/page-components.ts';
import { labelPlatform, type PlatformNames, readNamesInFull } from '../parts/read-platform-names.ts';
import { MERCHANT_FIELDS, type MerchantInput, merchantFields, readMerchant, toDraftValues } from './merchant-fields.ts';
import { renderFilter, renderFilterPreview, renderPast } from './render-filter.ts';
import { describeRequest, describeRequestInput } from './request-fields.ts';

/** With more platforms, the form lists none: their ids are typed. */
const PLATFORMS_MAX = 1_000;

/** A person waits for the preview. */
const COUNT_MS_MAX = 3_000;

const SECTION = { address: '/merchants', title: 'Lojistas' } as const;

/** Parts that the forms about one merchant share: they find it by their address, and lead to its page. */
export function ofMerchant({ db }: Context) {
  return {
    section: SECTION,
    list: ({ id, name }) => ({ address: `/merchants/${id}`, title: name }),
    find: ({ params }) => findMerchant(db, params.id),
  } satisfies Pick<TwoStepForm<never, MerchantRow>, 'section' | 'list' | 'find'>;
}

/** The forms that add and change a merchant. */
export function merchantForms(context: Context): Router {
  return createRouter().use([
    serveTwoStepForm(context, newMerchantForm(context)),
    serveTwoStepForm(context, changeForm(context)),
  ]);
}

function newMerchantForm(context: Context): TwoStepForm<MerchantInput, undefined, MadeOf<typeof addMerchant>> {
  return {
    ...ofChange(addMerchant),
    address: '/merchants/new',
    title: 'Novo lojista',
    lead: 'Quem recebe callbacks: um POST assinado para cada mudança de uma transação. O segredo que os assina aparece uma só vez, depois de confirmar.',
    section: SECTION,
    list: SECTION,
    names: MERCHANT_FIELDS,
    find: async () => undefined,
    fields: async (draft) => merchantFields(draft, true, await readWords(context)),
    read: (draft) => readMerchant(context, draft),
    preview: async (input, _item, response) =>
      html`${facts([
        ...describe(input, describeRequestInput(input), await readNamesInFull(context)),
        ['Eventos desde', input.events_since ? moment(context.calendar, input.events_since) : t('agora')],
      ])}${await previewOf(context, response, input)}`,
    shown: ({ merchant, secret }) => showSecret(merchant, secret, t('O lojista recebe callbacks a partir de agora.')),
    done: 'repeated',
  };
}

function changeForm(context: Context): TwoStepForm<MerchantInput, MerchantRow> {
  return {
    ...ofMerchant(context),
    ...ofChange(changeMerchant),
    address: '/merchants/:id/edit',
    title: 'Editar lojista',
    lead: 'O que já foi enfileirado segue como está. Um filtro mais largo envia também os eventos anteriores que agora passam, desde a data do lojista.',
    names: MERCHANT_FIELDS,
    initial: (row) => toDraftValues(context, row),
    basis: async (inner, { id }) => JSON.stringify(toDraftValues(context, await findMerchant(inner.db, id))),
    fields: async (draft) => merchantFields(draft, false, await readWords(context)),
    read: (draft, row) => readMerchant(context, draft, row),
    preview: async (input, item, response) =>
      html`${renderChanges(context, input, item, await readNamesInFull(context))}${await previewOf(context, response, input, item)}`,
    done: 'merchant_changed',
  };
}

async function previewOf(
  context: Context,
  response: Response,
  { filter, events_since: since }: MerchantInput,
  item?: MerchantRow,
): Promise<Html> {
  // a count reveals whether anything matches the filter: it is a search
  await authorizeFilter(context, getCaller(response), filter);
  const own = parseFilter(item?.own_filter ?? '{}');
  const eventsSince = since ?? item?.events_since ?? context.clock.now();
  const isWider = !item || eventsSince < item.events_since || !isWithin(filter, parseFilter(item.filter));
  const options = { filters: [filter, own], eventsSince, countMsMax: COUNT_MS_MAX };
  const past = isWider && (await countBackfill(context, item, options));
  const before = item && { seq: item.seq, filters: filtersOf(item) };
  const preview = await previewFilter(context, [filter, own], { before });
  return html`${past && facts([['Eventos anteriores', renderPast(context, past, eventsSince)]])}${renderFilterPreview(preview, await readNamesInFull(context))}`;
}

function describe(
  { name, url, email, rate, filter }: Pick<MerchantInput, 'name' | 'url' | 'email' | 'rate' | 'filter'>,
  request: readonly (readonly [Label, Part])[],
  names: PlatformNames,
): (readonly [Label, Part])[] {
  return [
    ['Nome', name],
    ['Endereço', url === null ? t('busca os eventos pela API') : html`<span class="id">${url}</span>`],
    ['E-mail', email],
    ['Por segundo, no máximo', rate ?? t('sem limite')],
    ...request,
    ['Filtro', renderFilter(filter, names)],
  ];
}

/** The platforms that transactions show, with their names: admins see all of them. */
async function readWords(context: Context): Promise<Record<string, string>> {
  const [platforms, names] = [await listPlatforms(context.db, PLATFORMS_MAX), await readNamesInFull(context)];
  return Object.fromEntries(platforms.map((platform) => [platform, labelPlatform(names, platform)]));
}

/** Renders what the form changes, before and after. */
function renderChanges({ calendar }: Context, input: MerchantInput, item: MerchantRow, names: PlatformNames): Html {
  const since = (at: Date) => ['Eventos desde', moment(calendar, at)] as const;
  const before = [
    ...describe({ ...item, filter: parseFilter(item.filter) }, describeRequest(presentMerchant(item)), names),
    since(item.events_since),
  ];
  const changed = [
    ...describe(input, describeRequestInput(input), names),
    since(input.events_since ?? item.events_since),
  ];
  const text = (part: Part): string => html`${part}`.text;
  const rows = changed.flatMap(([name, after], index) => {
    const old = before[index]?.[1];
    return text(old) === text(after) ? [] : [{ name, old, after }];
  });
  return table({
    caption: 'O que muda',
    rows,
    empty: 'Nada muda: os campos são os de hoje.',
    columns: [
      { title: 'Campo', cell: (row) => translate(row.name) },
      { title: 'Hoje', cell: (row) => row.old ?? t('nenhum') },
      { title: 'Depois', cell: (row) => row.after ?? t('nenhum') },
    ],
  });
}

/** The page that shows a merchant's secret. @param onwards where its link leads to. @param isOnce whether no other page shows it. */
export function showSecret(
  { id, name }: { id: string; name: string },
  secret: string,
  follows: Part,
  onwards: { address: string; title: PlainText } = {
    address: `/merchants/${id}`,
    title: 'Já guardei: abrir o lojista',
  },
  isOnce = true,
): Html {
  const text = isOnce
    ? '{name}: guarde este segredo agora. Ele não aparece de novo.'
    : '{name}: guarde este segredo. Ele fica à mostra também em Mudar um endereço.';
  return html`<section class="act"><p>${tHtml(text, { name: html`<b>${name}</b>` })}</p>
<p class="secret">${idText(secret)}</p><p class="hint">${follows}</p>
<p class="actions">${buttonLink(onwards.address, t(onwards.title))}</p></section>`;
}

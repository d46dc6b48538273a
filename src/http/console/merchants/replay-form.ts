import type { Router } from 'express';
import { assertDelivers } from '../../../callbacks/manage/redeliver.ts';
import {
  findFirstFailed,
  previewReplay,
  type ReplayPreview,
  type ReplayRequest,
} from '../../../callbacks/manage/replay.ts';
import type { Context } from '../../../context.ts';
import { addDays } from '../../../domain/calendar.ts';
import { compareText } from '../../../domain/lists.ts';
import type { MerchantRow } from '../../../merchants/read-merchants.ts';
import type { GivenOf } from '../../../operations/define-change.ts';
import { replayCallbacks } from '../../../operations/merchants/callbacks.ts';
import { refuseField } from '../../../texts/refuse.ts';
import { t, words } from '../../../texts/translate.ts';
import { serveTwoStepForm } from '../forms/serve-two-step-form.ts';
import { ofChange } from '../forms/two-step-form.ts';
import { choiceField, type Draft, inputField, parseWall } from '../parts/fields.ts';
import { formatCount, formatWallTime, moment } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { facts, idText } from '../parts/page-components.ts';
import { ofMerchant } from './merchant-forms.ts';

/** How far the form reaches back where nothing has failed. */
const DAYS_WITHOUT_FAILURE = 7;

type Range = Omit<ReplayRequest, 'merchant' | 'dryRun'>;

const BY = words({ created: 'o Confere criou a mensagem', event: 'o evento aconteceu (horário do provedor)' });
const STATES = words({ all: 'Entregues e falhos', failed: 'Só os que falharam', delivered: 'Só os entregues' });

/** The form that sends a merchant's callbacks of a range again; its preview counts them. */
export function replayForm(context: Context): Router {
  const parts = replayParts<MerchantRow>(context, (range, item) => ({
    merchant: item,
    count: () => previewReplay(context, { ...range, merchant: item.id }),
  }));
  const initial = async ({ seq }: MerchantRow) => describeFailed(context, await findFirstFailed(context.db, seq));
  return serveTwoStepForm<GivenOf<typeof replayCallbacks>, MerchantRow, string>(context, {
    ...ofMerchant(context),
    ...parts,
    ...ofChange(replayCallbacks),
    initial,
    address: '/merchants/:id/replay',
    read: (draft, { id }) => ({ ...parts.read(draft), merchant: id, dry_run: false }),
  });
}

/** The parts of a form that sends callbacks again, an operator's or a merchant's. @param of whose callbacks, and which. */
export function replayParts<Item>(
  context: Pick<Context, 'calendar' | 'clock'>,
  of: (range: Range, item: Item) => { merchant: MerchantRow; count: () => Promise<ReplayPreview> },
) {
  return {
    title: 'Reenviar um período',
    lead: 'Envia de novo os callbacks de um período, com os mesmos webhook-ids e na ordem de cada transação. O que ainda espera não entra: será enviado de qualquer modo.',
    names: ['by', 'from', 'to', 'states'],
    fields: async (draft: Draft) => replayFields(draft, context.calendar.zone),
    read: (draft: Draft) => readRange(context, draft),
    async preview(range: Range, item: Item): Promise<Html> {
      const { merchant, count } = of(range, item);
      // refused here as by the change
      assertDelivers(merchant);
      const { count: counted, types, ends } = await count();
      if (counted === 0) throw refuseField('states', 'replay_empty');
      const byType = [...types].sort(([a], [b]) => compareText(a, b));
      const describeOne = (one: ReplayPreview['ends'][number]) =>
        html`${range.by === 'event' && one.at_wall !== null ? formatWallTime(one.at_wall) : moment(context.calendar, one.created_at)} <code>${one.type}</code> ${idText(one.webhook_id)}`;
      return facts([
        ['Lojista', merchant.name],
        ['Período em que', BY[range.by ?? 'created']],
        ['De', moment(context.calendar, range.from)],
        ['Até antes de', moment(context.calendar, range.to)],
        ['Quais', STATES[range.states?.[0] ?? 'all']],
        ['Callbacks que voltariam para a fila', html`<b>${formatCount(counted)}</b>`],
        ['Por tipo', html`${byType.map(([type, n]) => html`<div><code>${type}</code>: ${formatCount(n)}</div>`)}`],
        ['A primeira', ends[0] && describeOne(ends[0])],
        ['A última', ends[1] && describeOne(ends[1])],
      ]);
    },
    done: 'replayed',
  } as const;
}

/** The fields of a range. */
function replayFields(draft: Draft, zone: string): Html {
  return html`<div class="fields wide">${choiceField(draft, { name: 'by', label: 'Período em que', words: BY, hint: 'Nunca é quando a mensagem chegou: na dúvida, comece mais cedo, e o que já chegou volta com o mesmo webhook-id. Correções e mensagens de pedidos não têm evento: contam por quando foram criadas. Pela data do evento, um dia inteiro repete as mensagens que o manifesto desse dia nomeia, sob os mesmos ids: o manifesto não muda nem vai de novo, e não nomeia mensagens de pedidos.' })}
${inputField(draft, { name: 'from', label: 'De' }, html` type="datetime-local" step="1" required`)}
${inputField(draft, { name: 'to', label: 'Até antes de', hint: t('No horário do provedor ({zone}).', { zone }) }, html` type="datetime-local" step="1" required`)}
${choiceField(draft, { name: 'states', label: 'Quais', words: STATES, any: 'Escolha' })}</div>`;
}

/** The range that the form has at first: what failed, since the first failure; else all of the last days. It has today. */
export function describeFailed(
  { calendar, clock }: Pick<Context, 'calendar' | 'clock'>,
  since: Date | undefined,
): Record<string, string> {
  const today = calendar.dayOf(clock.now());
  const from = since ? calendar.dayOf(since) : addDays(today, -DAYS_WITHOUT_FAILURE);
  // what a lost database lacks are messages, whenever their events were
  return {
    by: 'created',
    from: `${from}T00:00:00`,
    to: `${addDays(today, 1)}T00:00:00`,
    states: since ? 'failed' : 'all',
  };
}

/** Reads a range, and notes in the draft what is wrong with it. */
function readRange({ calendar }: Pick<Context, 'calendar'>, { values, faults }: Draft): Range {
  const [from, to] = ['from', 'to'].map((name) => {
    const wall = parseWall(values[name] ?? '');
    if (wall === undefined) faults[name] = t('Escolha o dia e a hora.');
    return wall === undefined ? new Date(0) : calendar.toInstant(wall);
  }) as [Date, Date];
  if (Object.keys(faults).length === 0 && to <= from) faults.to = t('O fim vem depois do começo.');
  const { states = '', by } = values;
  if (!(states in STATES)) faults.states = t('Escolha quais.');
  return {
    by: by === 'event' ? by : 'created',
    from,
    to,
    ...(states === 'failed' || states === 'delivered' ? { states: [states] } : {}),
  };
}

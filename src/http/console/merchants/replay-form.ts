import type { Router } from 'express';
import { assertDelivers } from '../../../callbacks/manage/redeliver.ts';
import { type ReplayRequest, replay } from '../../../callbacks/manage/replay.ts';
import type { Context } from '../../../context.ts';
import type { MerchantRow } from '../../../merchants/read-merchants.ts';
import type { GivenOf } from '../../../operations/define-change.ts';
import { replayCallbacks } from '../../../operations/merchants/callbacks.ts';
import { refuseField } from '../../../texts/refuse.ts';
import { t, words } from '../../../texts/translate.ts';
import { serveTwoStepForm } from '../forms/serve-two-step-form.ts';
import { ofChange } from '../forms/two-step-form.ts';
import { choiceField, type Draft, inputField, parseWall } from '../parts/fields.ts';
import { formatCount, moment } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { facts } from '../parts/page-components.ts';
import { ofMerchant } from './merchant-forms.ts';

type Range = Omit<ReplayRequest, 'merchant' | 'dryRun'>;

const STATES = words({ all: 'Entregues e falhos', failed: 'Só os que falharam', delivered: 'Só os entregues' });

/** The form that sends a merchant's callbacks of a range again; its preview counts them. */
export function replayForm(context: Context): Router {
  const parts = replayParts<MerchantRow>(context, (range, item) => ({
    merchant: item,
    count: () => replay(context, { ...range, merchant: item.id, dryRun: true }),
  }));
  return serveTwoStepForm<GivenOf<typeof replayCallbacks>, MerchantRow, string>(context, {
    ...ofMerchant(context),
    ...parts,
    ...ofChange(replayCallbacks),
    address: '/merchants/:id/replay',
    read: (draft, { id }) => ({ ...parts.read(draft), merchant: id, dry_run: false }),
  });
}

/** The parts of a form that sends callbacks again, an operator's or a merchant's. @param of whose callbacks, and how many. */
export function replayParts<Item>(
  context: Pick<Context, 'calendar' | 'clock'>,
  of: (range: Range, item: Item) => { merchant: MerchantRow; count: () => Promise<number> },
) {
  return {
    title: 'Reenviar um período',
    lead: 'Envia de novo os callbacks criados num período, com os mesmos webhook-ids e na ordem de cada transação. O que ainda espera não entra: será enviado de qualquer modo.',
    names: ['from', 'to', 'states'],
    initial: () => describeYesterday(context),
    fields: async (draft: Draft) => replayFields(draft),
    read: (draft: Draft) => readRange(context, draft),
    async preview(range: Range, item: Item): Promise<Html> {
      const { merchant, count } = of(range, item);
      // refused here as by the change
      assertDelivers(merchant);
      const counted = await count();
      if (counted === 0) throw refuseField('states', 'replay_empty');
      return facts([
        ['Lojista', merchant.name],
        ['De', moment(context.calendar, range.from)],
        ['Até antes de', moment(context.calendar, range.to)],
        ['Callbacks que voltariam para a fila', html`<b>${formatCount(counted)}</b>`],
      ]);
    },
    done: 'replayed',
  } as const;
}

/** The fields of a range. */
function replayFields(draft: Draft): Html {
  return html`<div class="fields wide">${inputField(draft, { name: 'from', label: 'De' }, html` type="datetime-local" step="1" required`)}
${inputField(draft, { name: 'to', label: 'Até antes de', hint: 'No relógio do provedor.' }, html` type="datetime-local" step="1" required`)}
${choiceField(draft, { name: 'states', label: 'Quais', words: STATES, any: 'Escolha' })}</div>`;
}

/** The range that the form has at first: yesterday. */
function describeYesterday({ calendar, clock }: Pick<Context, 'calendar' | 'clock'>): Record<string, string> {
  const to = calendar.dayOf(clock.now());
  const from = calendar.dayOf(new Date(calendar.startOfDay(to).getTime() - 1));
  return { from: `${from}T00:00:00`, to: `${to}T00:00:00`, states: 'all' };
}

/** Reads a range, and notes in the draft what is wrong with it. */
function readRange({ calendar }: Pick<Context, 'calendar'>, { values, faults }: Draft): Range {
  const [from, to] = ['from', 'to'].map((name) => {
    const wall = parseWall(values[name] ?? '');
    if (wall === undefined) faults[name] = t('Escolha o dia e a hora.');
    return wall === undefined ? new Date(0) : calendar.toInstant(wall);
  }) as [Date, Date];
  if (Object.keys(faults).length === 0 && to <= from) faults.to = t('O fim vem depois do começo.');
  const { states = '' } = values;
  if (!(states in STATES)) faults.states = t('Escolha quais.');
  return { from, to, ...(states === 'failed' || states === 'delivered' ? { states: [states] } : {}) };
}

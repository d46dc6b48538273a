import type { Router } from 'express';
import { auditParts } from '../../../access/audit.ts';
import { assertDelivers } from '../../../callbacks/manage/redeliver.ts';
import { type ReplayRequest, replay } from '../../../callbacks/manage/replay.ts';
import type { Context } from '../../../context.ts';
import { findMerchant, type MerchantRow } from '../../../merchants/read-merchants.ts';
import { parseWall } from '../balances/form-fields.ts';
import { t, words } from '../languages/translate.ts';
import { choiceField, type Draft, inputField } from '../parts/fields.ts';
import { formatCount, moment } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { facts } from '../parts/page-components.ts';
import { serveTwoStepForm } from '../two-step-form/serve-two-step-form.ts';
import type { TwoStepForm } from '../two-step-form/two-step-form.ts';
import { ofMerchant } from './merchant-forms.ts';

type Range = Omit<ReplayRequest, 'merchant' | 'dryRun'>;

const STATES = words({ all: 'Entregues e falhos', failed: 'Só os que falharam', delivered: 'Só os entregues' });

/** The form that sends a merchant's callbacks of a range again; its preview counts them. */
export function replayForm(context: Context): Router {
  const form: TwoStepForm<Range, MerchantRow> = {
    ...ofMerchant(context),
    address: '/merchants/:id/replay',
    roles: ['operator'],
    title: 'Repetir um período',
    lead: 'Envia de novo os callbacks criados num período, com os mesmos webhook-ids e na ordem de cada transação. O que ainda espera não entra: será enviado de qualquer modo.',
    names: ['from', 'to', 'states'],
    initial: () => describeYesterday(context),
    fields: async (draft) => replayFields(draft),
    read: (draft) => readRange(context, draft),
    async preview(range, item) {
      // refused here as by the change
      assertDelivers(item);
      const count = await replay(context, { ...range, merchant: item.id, dryRun: true });
      return renderReplay(context, range, { name: item.name, count });
    },
    async change(inner, _range, { item }) {
      assertDelivers(await findMerchant(inner.db, item.id));
      return item.id;
    },
    async finish(range, { actor, item, isRepeated }) {
      if (isRepeated) return;
      const { from, to } = range;
      // a range may be long: each part is its own transaction
      const inParts = auditParts(context, (count) => {
        const detail = `console ${JSON.stringify({ from, to, count })}`;
        return { actor, action: 'callbacks.replayed', target: item.id, detail };
      });
      await replay(context, { ...range, merchant: item.id, dryRun: false }, inParts);
    },
    action: 'callbacks.replay_requested',
    done: 'replayed',
  };
  return serveTwoStepForm(context, form);
}

/** The fields of a range. */
export function replayFields(draft: Draft): Html {
  return html`<div class="fields wide">${inputField(draft, { name: 'from', label: 'De' }, html` type="datetime-local" step="1" required`)}
${inputField(draft, { name: 'to', label: 'Até antes de', hint: 'No relógio do provedor.' }, html` type="datetime-local" step="1" required`)}
${choiceField(draft, { name: 'states', label: 'Quais', words: STATES, any: 'Escolha' })}</div>`;
}

/** What a replay would send. @param about the merchant's name, and how many callbacks. */
export function renderReplay(
  { calendar }: Pick<Context, 'calendar'>,
  range: Pick<Range, 'from' | 'to'>,
  about: { name: string; count: number },
): Html {
  return facts([
    ['Lojista', about.name],
    ['De', moment(calendar, range.from)],
    ['Até antes de', moment(calendar, range.to)],
    ['Callbacks que voltariam para a fila', html`<b>${formatCount(about.count)}</b>`],
  ]);
}

/** The range that the form has at first: yesterday. */
export function describeYesterday({ calendar, clock }: Pick<Context, 'calendar' | 'clock'>): Record<string, string> {
  const to = calendar.dayOf(clock.now());
  const from = calendar.dayOf(new Date(calendar.startOfDay(to).getTime() - 1));
  return { from: `${from}T00:00:00`, to: `${to}T00:00:00`, states: 'all' };
}

/** Reads a range, and notes in the draft what is wrong with it. */
export function readRange({ calendar }: Pick<Context, 'calendar'>, { values, faults }: Draft): Range {
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

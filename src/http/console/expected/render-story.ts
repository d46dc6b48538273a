import type { Context } from '../../../context.ts';
import type { StoryStep } from '../../../expected/read/read-story.ts';
import { describeCode } from '../../../texts/fill.ts';
import { t, words } from '../../../texts/translate.ts';
import { formatDay, moment, moneyOf } from '../parts/format.ts';
import { type Html, html, type Part } from '../parts/html.ts';
import { table } from '../parts/page-components.ts';
import { RULE_WORDS, stateBadge } from './describe-expected.ts';

const STEP_WORDS: Record<string, string> = words({
  version: 'Informado',
  cancelled: 'Cancelado',
  reopened: 'Reaberto',
  matched: 'Casado com',
  unmatched: 'Separado de',
  state: 'Estado',
});

/** Why a match ended. */
const UNMATCHED_WORDS: Record<string, string> = words({
  person: 'à mão',
  not_paid: 'não está mais pago',
  matched_anew: 'casado de novo de outro modo',
  matched_elsewhere: 'conta para outro pedido',
  not_unique: 'em disputa: serve a mais de um pedido',
  facts_changed: 'o pedido ou o pagamento mudou',
});

/** `linkTo`: a payment; `nameOf`: who did it; `noteOf`: what the reader may see of a note. */
type Readers = {
  linkTo: (transaction: string) => Html;
  nameOf: (actor: string) => Part;
  noteOf: (note: string | null) => string | null;
};

/** Renders the steps in the life of an order, the oldest first. */
export function storyTable({ calendar }: Pick<Context, 'calendar'>, story: StoryStep[], readers: Readers): Html {
  return table({
    caption: 'O que aconteceu com o pedido',
    rows: story,
    empty: 'Nada aconteceu até agora.',
    columns: [
      { title: 'Quando', cell: (step) => moment(calendar, step.at) },
      { title: 'O que', cell: (step) => html`${describeCode(STEP_WORDS, step.kind)} ${describeStep(step, readers)}` },
      { title: 'Quem', cell: (step) => (step.by === null ? null : readers.nameOf(step.by)) },
      { title: 'Observação', cell: (step) => ('note' in step ? readers.noteOf(step.note) : null) },
    ],
  });
}

function describeStep(step: StoryStep, { linkTo }: Readers): Part {
  switch (step.kind) {
    case 'version':
      return html`${moneyOf(step.amount)}, ${t('vence em {day}', { day: formatDay(step.due) })}`;
    case 'matched':
      return html`${linkTo(step.transaction)} ${moneyOf(step.amount)} (${describeCode(RULE_WORDS, step.rule)})`;
    case 'unmatched':
      return html`${linkTo(step.transaction)} ${moneyOf(step.amount)}: ${describeCode(UNMATCHED_WORDS, step.reason)}${step.others.length > 0 && html`; ${t('a referência ou o id E2E era também de {orders}', { orders: step.others.join(', ') })}`}`;
    case 'state':
      return stateBadge(step.state);
    default:
      return undefined;
  }
}

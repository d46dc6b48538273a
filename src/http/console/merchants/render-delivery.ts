import { TEST_SOURCE } from '../../../callbacks/health/callback-sources.ts';
import { UNDELIVERED, type Undelivered } from '../../../callbacks/health/count-undelivered.ts';
import { PROBE_EVERY_MS } from '../../../callbacks/health/merchant-health.ts';
import { type Delivery, type FailedAttempt, OLDER_MAX } from '../../../callbacks/manage/read-delivery.ts';
import type { Hold } from '../../../callbacks/manage/redeliver.ts';
import type { Context } from '../../../context.ts';
import type { PresentedMerchant } from '../../../merchants/present-merchant.ts';
import { isMailed } from '../../../portal/address-changes.ts';
import { describeCode } from '../../../texts/fill.ts';
import { type Translated, t, words } from '../../../texts/translate.ts';
import { placeHourOf } from '../charts/place-slots.ts';
import { renderAttemptChart } from '../charts/render-attempt-chart.ts';
import { formatAge, formatBounded, formatCount, formatDuration, moment } from '../parts/format.ts';
import { type Html, html, type Part, tHtml } from '../parts/html.ts';
import { facts } from '../parts/page-components.ts';
import { ATTEMPT_ERROR_WORDS, CALLBACK_STATE_WORDS } from '../parts/words.ts';

type Clocked = Pick<Context, 'calendar' | 'clock' | 'config'>;

/** Where the tallies and the last error lead to. */
export type DeliveryLinks = {
  list: (state: Undelivered) => string;
  item: (callback: FailedAttempt) => string;
  /** The page is the merchant's own: it shows the text of the last answer, which may name people. */
  isOwn?: true;
};

/** How callbacks reach a merchant: what waits, the last error, and the last 24 hours as charts. */
export function renderDelivery(
  context: Clocked,
  merchant: PresentedMerchant,
  delivery: Delivery,
  links: DeliveryLinks,
): Html {
  const { lastFailure, lastSuccessAt, counts } = delivery;
  const now = context.clock.now();
  return html`<section><h2>${t('Entrega')}</h2>${describeFailing(context, merchant, lastFailure, links)}
<ul class="tally">${UNDELIVERED.map(
    (state) =>
      html`<li><span>${describeCode(TALLY_WORDS, state)}</span> <a href="${links.list(state)}" aria-label="${describeCode(CALLBACK_STATE_WORDS, state)}: ${formatBounded(counts[state])}"><b>${formatBounded(counts[state])}</b></a></li>`,
  )}</ul>
${facts([
  ['Próxima tentativa', describeNext(context, merchant, delivery)],
  [
    'Último erro em 24 h',
    lastFailure
      ? html`<a href="${links.item(lastFailure)}">${describeOutcome(lastFailure.status, lastFailure.errorClass)}</a>, ${formatAge(lastFailure.at, now)} <span class="hint">${moment(context.calendar, lastFailure.at)}</span>`
      : t('nenhum'),
  ],
  [
    'Última entrega em 24 h',
    lastSuccessAt
      ? html`${formatAge(lastSuccessAt, now)} <span class="hint">${moment(context.calendar, lastSuccessAt)}</span>`
      : t('nenhuma'),
  ],
])}<p class="hint">${t('Última entrega: pode haver uma mais nova, de um callback reenviado.')} ${t('Testes e exemplos não contam aqui: a lista de callbacks os mostra.')}</p></section>
<section><h2>${t('As últimas 24 horas')}</h2>${renderHours(context, delivery)}</section>`;
}

const TALLY_WORDS = words({ pending: 'Pendentes', held: 'Retidos', failed: 'Com falha' });

/** `HTTP 503`, or the class of an attempt without an answer. */
export function describeOutcome(status: number | null, errorClass: string | null): string {
  return status === null ? describeCode(ATTEMPT_ERROR_WORDS, errorClass ?? '') : `HTTP ${status}`;
}

/** How many messages deliveries that are resumed send; or why some are held of an address that fails. False where a merchant fetches them, or nothing stops them. */
export function describeHeld(merchant: PresentedMerchant, { counts: { held, pending } }: Delivery): Html | false {
  if (merchant.url === null) return false;
  if (merchant.state === 'enabled' && merchant.breaker !== 'open')
    return held.n > 0 && merchant.failing_since !== null && explainHeld();
  const n = formatBounded({ n: held.n + pending.n, isMore: held.isMore || pending.isMore });
  return html`<p class="hint">${t('Mensagens que saem ao retomar, em ordem, aos poucos: {n}.', { n })}${warnOfTest(merchant) && html` ${warnOfTest(merchant)}`}</p>`;
}

/** Says why messages are held without an attempt that is planned, and what frees them. */
export function explainHeld(): Html {
  return html`<p class="hint">${t('O que está retido não tem tentativa marcada: o endereço falha, e as tentativas acabaram ou o disjuntor abriu. Segue quando ele aceitar qualquer mensagem, ou com Enviar agora tudo o que espera.')}</p>`;
}

/** Says what else a test does to a merchant without a test address whose breaker is open. */
export function warnOfTest({ url, test_url, state, breaker }: PresentedMerchant): Translated | false {
  if (url === null || test_url !== null || state !== 'enabled' || breaker !== 'open') return false;
  return t(
    'Um teste ou exemplo vai ao endereço de produção: se for aceito, o disjuntor fecha e as mensagens retidas saem.',
  );
}

/** Says that a test that was accepted closed the breaker. */
export function describeClosed(isClosed: boolean): Html | false {
  return (
    isClosed &&
    html`<p class="explain">${t('Com este teste aceito, o disjuntor fechou: os callbacks retidos saem desde então.')}</p>`
  );
}

/** In place of a form that would send nothing now: why. */
export function describeHold(hold: Hold, source: string): Html {
  const every = formatDuration(PROBE_EVERY_MS / 1000);
  if (hold === 'fetches')
    return html`<p>${t('Nada é enviado a este lojista: ele busca os seus eventos, e pode pedi-los de novo a partir de um cursor anterior.')}</p>`;
  if (source === TEST_SOURCE)
    return html`<p>${t('Testes e exemplos saem também com os envios retidos. Para tentar outra vez, envie um novo.')}</p>`;
  if (hold === 'state')
    return html`<p>${t('Nada é enviado agora: o lojista não está ativo. Os callbacks ficam retidos até que os envios sejam retomados.')}</p>`;
  return html`<p>${t('Nada é enviado agora: o disjuntor está aberto. Um só callback é tentado a cada {every}; os outros seguem quando ele for aceito, ou quando o disjuntor for fechado.', { every })}</p>`;
}

/** From the first refusal on: an engineer who waits for a callback has to see it. */
function describeFailing(
  context: Clocked,
  merchant: PresentedMerchant,
  last: FailedAttempt | undefined,
  { isOwn }: DeliveryLinks,
): Html | undefined {
  if (merchant.failing_since === null || merchant.state !== 'enabled') return undefined;
  const failingMs = context.clock.now().getTime() - Date.parse(merchant.failing_since);
  const age = formatDuration(Math.round(failingMs / 1000));
  const after = formatDuration(Math.round(context.config.LIMITS.callbackAlertMs / 1000));
  const answer =
    isOwn &&
    last &&
    html`<p>${tHtml('A resposta que recebemos: {outcome}', { outcome: describeOutcome(last.status, last.errorClass) })}</p>${last.body !== null && html`<pre>${last.body}</pre>`}`;
  const notified = isOwn
    ? isMailed(context, merchant)
      ? t('A operação e você são avisados depois de {after}.', { after })
      : t('A operação é avisada depois de {after}.', { after })
    : t('A operação, e o lojista que deu um e-mail, são avisados depois de {after}.', { after });
  return html`<div class="explain bad"><p>${tHtml('<b>Este endereço não aceita nada há {age}.</b> Nada se perde: os callbacks esperam.', { age })} ${notified}${isOwn && merchant.breaker !== 'open' && html` ${t('Consertou o seu servidor? Envie agora o que espera.')}`}</p>${answer}</div>`;
}

const UNPLANNED_WORDS = words({
  sending: 'agora',
  backfill: 'eventos anteriores: quando não houver outra mensagem',
  earlier: 'aguarda uma mensagem anterior',
});

function describeNext(context: Clocked, merchant: PresentedMerchant, { nextAttemptAt: at, unplanned }: Delivery): Part {
  if (merchant.state !== 'enabled') return t('nenhuma até que os envios sejam retomados');
  if (merchant.url === null) return t('nenhuma: os eventos são buscados pela API');
  if (unplanned) return describeCode(UNPLANNED_WORDS, unplanned);
  if (at === undefined) return t('nada espera');
  if (at <= context.clock.now()) return t('agora');
  return html`${moment(context.calendar, at)}${merchant.breaker === 'open' && html` <span class="hint">${t('um só callback, para ver se o endereço voltou')}</span>`}`;
}

function renderHours({ calendar }: Clocked, { hours, allSince }: Delivery): Html {
  if (hours.every((hour) => hour.attempts === 0))
    return html`<p class="empty">${t('Nenhuma tentativa em 24 horas.')}</p>`;
  const points = hours.map((hour) => ({ ...placeHourOf(calendar, hour.start), figures: hour }));
  return html`${renderAttemptChart(points, { slotTitle: 'Hora', isEstimate: allSince === undefined })}
<p class="hint">${allSince ? tHtml('Todas as tentativas dos callbacks criados desde {at}, e as de até {n} mais antigos não entregues.', { at: moment(calendar, allSince), n: formatCount(OLDER_MAX) }) : t('Estimativa, de uma amostra das tentativas de cada hora: 0 % não diz que nenhum foi aceito.')}</p>`;
}

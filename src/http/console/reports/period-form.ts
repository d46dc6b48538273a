import type { Context } from '../../../context.ts';
import { type Day, isDay } from '../../../domain/calendar.ts';
import { FILE_FORMATS, type FileFormat } from '../../../reports/plan/report-plan.ts';
import { assertGroup } from '../../../reports/render/formats/formats.ts';
import { assertRange, RANGE_DAYS_MAX } from '../../../reports/serve/export-range.ts';
import { t, words } from '../../../texts/translate.ts';
import { type Draft, noteRefusals } from '../parts/fields.ts';
import { type Html, html, tHtml } from '../parts/html.ts';

export const FORMAT_WORDS = words<FileFormat>({
  xlsx: 'Planilha',
  csv: 'CSV',
  journal: 'Diário hledger',
  ofx: 'OFX',
  lancamentos: 'Lançamentos contábeis (CSV)',
  'conta-azul': 'Lançamentos para Conta Azul',
  calima: 'Lançamentos para Calima',
  'journal-continued': 'Diário hledger que continua o anterior',
  'a-receber': 'Pedidos a receber (CSV)',
  'nao-identificados': 'Recebimentos não identificados (CSV)',
});

export function isFormat(value: unknown): value is FileFormat {
  return (FILE_FORMATS as readonly unknown[]).includes(value);
}

export type Period = { from: Day; to: Day; platform: string; format?: FileFormat; group?: 'day' | undefined };

export function findPeriodFault(context: Context, { from, to, format = 'xlsx', group }: Period): string | undefined {
  if (!isDay(from) || !isDay(to)) return t('Escolha o primeiro e o último dia.');
  const faults: Draft['faults'] = {};
  noteRefusals({ faults }, () => {
    assertGroup(format, group);
    assertRange(context, { from, to });
  });
  return Object.values(faults)[0];
}

/** One file over several days. It is made on request and not stored. */
export function renderPeriodForm(context: Context, period: Period, fault: string | undefined): Html {
  const today = context.calendar.dayOf(context.clock.now());
  const wrong = fault !== undefined && html` aria-invalid="true" aria-describedby="range-fault"`;
  const field = (title: string, name: 'from' | 'to'): Html =>
    html`<label><span>${title}</span><input type="date" name="${name}" value="${period[name]}" max="${today}"${wrong}></label>`;
  return html`<p class="hint">${t('Um arquivo de até {max} dias, feito a pedido num só corte do razão. Não é uma revisão e não fica guardado.', { max: RANGE_DAYS_MAX })}${!context.config.REPORT_FULL_DOCUMENTS && ` ${t('CPF e CNPJ saem mascarados, porque os arquivos circulam: por extenso, o console os mostra à contabilidade e à operação. Um administrador do servidor pode mudar isso, na configuração.')}`}</p>
${fault !== undefined && html`<p class="fault" id="range-fault" role="alert">${fault}</p>`}
<form method="get" action="/reports/period#period"><div class="fields">${field(t('De'), 'from')}${field(t('Até'), 'to')}
<label><span>${t('Formato')}</span><select name="format">${FILE_FORMATS.map((format) => html`<option value="${format}"${format === period.format && html` selected`}>${FORMAT_WORDS[format]}</option>`)}</select></label>
<label><span>${t('Lançamentos')}</span><select name="group"><option value="">${t('Um por um')}</option><option value="day"${period.group && html` selected`}>${t('Somados por dia, plataforma e conta')}</option></select></label>
${period.platform !== '' && html`<input type="hidden" name="platform" value="${period.platform}">`}<div class="actions"><button>${t('Baixar')}</button></div></div></form>
<p class="hint">${t('Somados ou um por um, cada conta tem o mesmo saldo; os totais de débito e de crédito diferem.')} ${t('Nos arquivos de lançamentos, o histórico traz o tipo e a referência, sem o nome do pagador: ele está na planilha, no OFX e na coluna própria do Conta Azul.')} ${tHtml('Os lançamentos usam o {link} da empresa.', { link: html`<a href="/reports/accounts">${t('plano de contas')}</a>` })}</p>`;
}

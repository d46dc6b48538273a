import type { Request, Response, Router } from 'express';
import { audit } from '../../../access/audit.ts';
import type { Context } from '../../../context.ts';
import { CLOCK_MS_MAX } from '../../../database/clock.ts';
import { limitReads } from '../../../database/limit-statement-time.ts';
import { examineSystem, type Finding } from '../../../doctor/examine-system.ts';
import { type LiveProcess, readProcesses, stateOf } from '../../../runtime/read-processes.ts';
import { describeCode } from '../../../texts/fill.ts';
import { t, words } from '../../../texts/translate.ts';
import { type JobState, readJobStates } from '../../../timetable/read-job-states.ts';
import { getActor, requireRole } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { EMPTY_VALUE, formatAge, formatCount, formatDuration, moment } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { badge, say, table } from '../parts/page-components.ts';
import { hasRole, postForm, sendPage } from '../parts/send-page.ts';
import { CHECK_WORDS, JOB_OUTCOME_WORDS, JOB_WORDS, PART_WORDS } from '../parts/words.ts';

const REFRESH_S = 15;
const SHOWN_MS = 86_400_000;

const FINDING_WORDS: Record<string, string> = words({ yes: 'Em ordem', no: 'Falhou' });

/** The page of the system: its jobs, the processes that are alive, and the checks of `confere doctor`. */
export function systemPages(context: Context): Router {
  const router = createRouter();
  router.get('/system', (request, response) => sendSystem(context, request, response, undefined));
  router.post('/system/check', requireRole('operator'), async (request, response) => {
    await audit(context, { actor: getActor(response), action: 'system.check', target: 'system', detail: 'console' });
    await sendSystem(context, request, response, await examineSystem(context));
  });
  return router;
}

async function sendSystem(
  context: Context,
  request: Request,
  response: Response,
  findings: Finding[] | undefined,
): Promise<void> {
  const reading = limitReads(context);
  const since = new Date(context.clock.now().getTime() - SHOWN_MS);
  const [jobs, processes] = await Promise.all([readJobStates(reading), readProcesses(reading.db, since)]);
  const check = postForm(
    response,
    '/system/check',
    html`<div class="actions"><button>${t('Verificar agora')}</button></div>`,
  );
  const body = html`<h1>${t('Sistema')}</h1>
<section><h2>${t('Tarefas')}</h2>${jobTable(context, jobs)}</section>
<section><h2>${t('Processos')}</h2>${processTable(context, processes)}</section>
<section><h2>${t('Verificação')}</h2>${findings ? findingTable(findings) : html`<p class="hint">${t('Banco de dados, permissões, relógio, arquivos e provedor, vistos do processo que responde a esta página: o mesmo que confere doctor.')}</p>`}${hasRole(response, 'operator') && check}</section>
${hasRole(response, 'admin') && html`<section><h2>${t('Acesso')}</h2><p><a href="/tokens">${t('Tokens')}</a> · <a href="/audit">${t('Auditoria')}</a></p></section>`}`;
  sendPage(request, response, { title: t('Sistema'), body, ...(findings ? {} : { refreshS: REFRESH_S }) });
}

function jobTable({ calendar }: Context, jobs: JobState[]): Html {
  return table({
    caption: 'Tarefas da agenda',
    rows: jobs,
    empty: '',
    columns: [
      {
        title: 'Tarefa',
        cell: (job) => html`${describeCode(JOB_WORDS, job.name)}<br><code class="hint">${job.name}</code>`,
      },
      { title: 'Horário', cell: (job) => html`<code>${job.cron}</code>` },
      { title: 'Última', cell: ({ last }) => moment(calendar, last?.startedAt ?? last?.dueAt) },
      { title: 'Resultado', cell: outcomeCell },
      {
        title: 'Levou',
        cell: ({ last }) =>
          last?.durationMs == null
            ? EMPTY_VALUE
            : last.durationMs < 1000
              ? '< 1 s'
              : formatDuration(Math.round(last.durationMs / 1000)),
        align: 'end',
      },
      { title: 'Próxima', cell: (job) => moment(calendar, job.nextAt) },
    ],
  });
}

function outcomeCell({ last, overdue, failing, cron }: JobState): Html {
  const error = last?.error;
  const outcome = cron === 'off' ? 'off' : overdue ? 'overdue' : (last?.outcome ?? 'never');
  return html`${badge(JOB_OUTCOME_WORDS, outcome)}${failing && html` ${badge(JOB_OUTCOME_WORDS, 'failing')}`}${
    error &&
    html`<br><span class="hint">${error.said ? html`${error.code}: ${say(error.said)}` : say(error.text)}</span>`
  }`;
}

function processTable(context: Context, processes: LiveProcess[]): Html {
  const now = context.clock.now();
  return table({
    caption: 'Processos que deram sinal de vida nas últimas 24 horas',
    rows: processes,
    empty: 'Nenhum processo deu sinal de vida nas últimas 24 horas: nenhum worker está no ar.',
    columns: [
      { title: 'Processo', cell: (row) => html`<span class="id">${row.holder}</span>` },
      { title: 'Máquina', cell: (row) => row.host },
      { title: 'Estado', cell: (row) => badge(PART_WORDS, stateOf(row, now)) },
      {
        title: 'Último sinal',
        cell: (row) => html`<span title="${row.seen_at.toISOString()}">${formatAge(row.seen_at, now)}</span>`,
      },
      {
        title: 'Relógio',
        cell: ({ aheadMs }) => {
          if (Math.abs(aheadMs ?? 0) <= CLOCK_MS_MAX) return aheadMs === null ? EMPTY_VALUE : t('certo');
          const duration = formatDuration(Math.round(Math.abs(Number(aheadMs)) / 1000));
          return html`<b class="fault">${Number(aheadMs) > 0 ? t('{duration} adiantado', { duration }) : t('{duration} atrasado', { duration })}</b>`;
        },
      },
      { title: 'Partes', cell: (row) => row.parts.map((one, index) => html`${index > 0 && ', '}${describePart(one)}`) },
    ],
  });
}

function describePart({ part, shortBytes }: LiveProcess['parts'][number]): Html {
  const free =
    shortBytes !== null &&
    html` <b class="fault">(${t('{n} MB livres', { n: formatCount(Math.floor(shortBytes / 1_048_576)) })})</b>`;
  return html`${describeCode(PART_WORDS, part)}${free}`;
}

function findingTable(findings: Finding[]): Html {
  return table({
    caption: 'Achados da verificação',
    rows: findings,
    empty: '',
    columns: [
      { title: 'O quê', cell: (row) => describeCode(CHECK_WORDS, row.check) },
      { title: 'Resultado', cell: (row) => badge(FINDING_WORDS, row.ok ? 'yes' : 'no') },
      { title: 'Detalhe', cell: (row) => html`<span class="long">${say(row.says)}</span>` },
    ],
  });
}

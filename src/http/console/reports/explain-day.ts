/** The state of a day's report in one sentence, and what ends it. */
import type { Day } from '../../../domain/calendar.ts';
import { LATE_DAYS } from '../../../domain/late-days.ts';
import type { DayState } from '../../../reports/serve/decide-day.ts';
import type { ReportDay } from '../../../reports/serve/list-report-days.ts';
import { plural, t, words } from '../../../texts/translate.ts';
import { formatDay } from '../parts/format.ts';

export const DAY_STATE_WORDS: Record<DayState, string> = words({
  before: 'Antes dos livros',
  future: 'Por vir',
  running: 'Em curso',
  missing: 'Não feito',
  changed: 'Mudou',
  provisional: 'Provisório',
  revised: 'Revisado',
  closed: 'Dia completo',
});

/** `make`: the button that makes the next revision; `run`: the one that starts a run over these days. */
export type DayAction =
  | { kind: 'make'; text: string }
  | { kind: 'run'; text: string; from: Day; to: Day }
  | { kind: 'link'; text: string; path: string };
/** `isUsual`: the sentence is that of any complete day, so that a list says it once. */
type Explained = { sentence: string; action?: DayAction; isUsual?: boolean };

/** Where a revision of an earlier version stores no figures yet. */
export const sayNoFigures = (): string =>
  t('A revisão é de uma versão anterior do Confere: a agenda ainda vai somar as suas linhas.');

const LATE = String(LATE_DAYS);

export function explainDay(day: ReportDay): Explained {
  const newest = day.revisions[0]?.revision ?? 0;
  switch (day.state) {
    case 'before':
      return { sentence: t('Antes dos livros: nada foi lançado até o fim deste dia.') };
    case 'future':
      return { sentence: t('Por vir: o dia ainda não começou no provedor.') };
    case 'running':
      return {
        sentence: t('Em curso: o dia não terminou no provedor; um relatório de agora é parcial.'),
        action: { kind: 'make', text: t('Fazer um relatório parcial') },
      };
    case 'missing':
      return {
        sentence:
          newest === 0
            ? t('Não feito: o dia terminou e não tem relatório.')
            : t('Não feito: a revisão {revision} é de quando o dia corria, e nenhuma o mostra inteiro.', {
                revision: newest,
              }),
        action: { kind: 'make', text: t('Fazer o relatório') },
      };
    case 'changed':
      return {
        sentence: t('Mudou depois da revisão {revision}: a próxima dirá o que mudou e por quê.', { revision: newest }),
        action: makeNext(newest),
      };
    case 'provisional':
      return explainProvisional(day);
    case 'revised':
    case 'closed':
      return explainClosed(day, newest);
  }
}

function makeNext(newest: number): DayAction {
  return { kind: 'make', text: t('Fazer a revisão {revision}', { revision: newest + 1 }) };
}

function explainProvisional({ unread, isInDoubt }: ReportDay): Explained {
  if (!unread || isInDoubt) {
    return {
      sentence: t('Provisório: o fuso horário do provedor está em dúvida.'),
      action: { kind: 'link', text: t('Ver os alertas'), path: '/alerts' },
    };
  }
  const { count, from, to, hasDay } = unread;
  const text = count === 1 ? t('Conferir esse dia') : t('Conferir esses dias');
  const action: DayAction = { kind: 'run', from, to, text };
  if (hasDay) {
    const sentence =
      count === 1
        ? t('Provisório: falta uma leitura completa depois do fim do dia.')
        : plural(
            count - 1,
            'Provisório: falta uma leitura completa depois do fim do dia, e de um dia antes dele.',
            'Provisório: falta uma leitura completa depois do fim do dia, e de {n} dias antes dele.',
          );
    return { sentence, action };
  }
  const values = { late: LATE, from: formatDay(from), to: formatDay(to) };
  const sentence = plural(
    count,
    'Provisório: falta ler {from}, um dos {late} dias antes dele, cujas transações ainda podem mudá-lo.',
    'Provisório: falta ler {n} dos {late} dias antes dele (de {from} a {to}), cujas transações ainda podem mudá-lo.',
    values,
  );
  return { sentence, action };
}

function explainClosed({ state, revisedBy, isReadWhole, revisions }: ReportDay, newest: number): Explained {
  const sentences = [
    state === 'revised'
      ? t('Revisado e completo: a revisão {revision} mudou linhas da anterior.', { revision: revisedBy ?? 0 })
      : t('Completo: ele e os {late} dias antes dele foram lidos ou contados depois do seu fim.', { late: LATE }),
    ...(isReadWhole ? [] : [t('O próprio dia foi provado por contagem.')]),
  ];
  if (revisions[0]?.state === 'closed')
    return { sentence: sentences.join(' '), isUsual: state === 'closed' && isReadWhole };
  const late = t('A revisão {revision} ainda não o diz: a próxima dirá.', { revision: newest });
  return { sentence: [...sentences, late].join(' '), action: makeNext(newest) };
}

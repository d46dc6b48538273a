import { describeCode } from '../fill.ts';
import type { AlertFacts, AlertText, Formats, Say } from './alert-facts.ts';
import { PT_BR_FAULTS, PT_BR_PARTS, PT_BR_TRIGGERS } from './codes-pt-br.ts';
import type { EN_SAY } from './say-en.ts';
import { PT_BR_TEXTS } from './texts-pt-br.ts';

const stakeOf = ({ cents = '0' }: AlertFacts, { money }: Formats): string =>
  cents === '0' ? '' : `, ${money(cents)} em jogo`;
const merchantOf = ({ merchant, merchantName }: AlertFacts): string =>
  merchantName ? `o lojista ${merchantName} (${merchant})` : `o lojista ${merchant}`;

const sayMismatches: Say = (facts, as) => {
  const { count = 1, transaction, expected, mismatch, about } = facts;
  const order = expected && `pedido ${expected}`;
  const one = transaction ? `transação ${transaction}` : (order ?? (mismatch ? `divergência ${mismatch}` : about));
  const stake = stakeOf(facts, as);
  return count === 1 ? `${one}${stake}` : `${count} divergências de uma causa${stake}; uma delas: ${one}`;
};

export const PT_BR_SAY: typeof EN_SAY = {
  mismatches: sayMismatches,
  address_change_waits: (facts, { at }) =>
    `${merchantOf(facts)} espera desde ${at(facts.since)} que um admin decida a mudança; ela vale por 48 h`,
  baseline_mismatches: (facts, as) => {
    const titles = PT_BR_TEXTS as Record<string, AlertText>;
    const list = Object.entries(facts.kinds ?? {}).map(([kind, count]) => `${count} × ${titles[kind]?.title ?? kind}`);
    return `${facts.count} divergências sobre pagamentos e dias de antes de o Confere receber webhooks${stakeOf(facts, as)}: ${list.join(', ')}`;
  },
  callback_failed: (facts) =>
    `${merchantOf(facts)} não aceitou ${facts.count} callbacks em tentativa alguma nas últimas 24 h`,
  callbacks_behind: ({ count, since }, { at }) =>
    `${count} callbacks deviam ter saído e não saíram, o mais antigo desde ${at(since)}`,
  clock_differs: ({ clocks = [] }) =>
    clocks
      .map(
        ({ host, seconds }) =>
          `${host} está ${Math.abs(seconds)} s ${seconds > 0 ? 'adiantada' : 'atrasada'} em relação ao banco de dados`,
      )
      .join(', '),
  database_read_only: ({ error, since }, { at }) => `o banco de dados recusa gravações desde ${at(since)} (${error})`,
  disk_full: ({ disks = [] }) =>
    disks
      .map(
        ({ part, host, holder = host, mib }) => `${describeCode(PT_BR_PARTS, part)} de ${holder} tem ${mib} MiB livres`,
      )
      .join(', '),
  expected_behind: ({ since }, { at }) => `o que mudou desde ${at(since)} não foi casado com os pedidos`,
  inbound_silence: ({ since, hours }, { at }) =>
    since
      ? `nenhum webhook desde ${at(since)}, mais do que as ${hours} h de costume: o provedor ainda envia?`
      : 'nenhum receptor está vivo: os webhooks não são recebidos; inicie serve --web',
  inbox_behind: ({ since }, { at }) => `um webhook espera por sua verificação desde ${at(since)}`,
  job_failed: ({ job, since, error }, { at }) =>
    `a tarefa ${job} falhou; a última vez era para ${at(since)}${error ? ` (${error})` : ''}`,
  job_overdue: ({ job, since, isRunning }, { at }) =>
    `a tarefa ${job} ${isRunning ? 'demora demais ou foi abandonada' : 'não começou a tempo'}; ${since ? `a última vez era para ${at(since)}` : 'nunca rodou'}`,
  merchant_disabled: (facts, { at }) =>
    `${merchantOf(facts)} está desativado desde ${at(facts.since)}; os callbacks ficam retidos`,
  merchant_failing: (facts, { at }) => `${merchantOf(facts)} não aceita callbacks desde ${at(facts.since)}`,
  no_complete_run: ({ since }, { at }) => `nenhuma conferência desde ${at(since)} leu hoje por inteiro`,
  opening_to_come: ({ opening, days = [], platform }, { day }) =>
    `o saldo inicial ${opening} é de ${day(days[0] ?? '')}, que ainda não chegou: nada da plataforma ${platform} é lançado`,
  provider_failing: ({ operation, percent, error = '', since }, { at }) =>
    `${percent} % das consultas ${operation === 'list' ? 'da lista' : 'por id'} falham ou demoram desde ${at(since)} (${describeCode(PT_BR_FAULTS, error)})`,
  provider_unauthorized: ({ run }) =>
    `o provedor recusou a chave${run ? ` na conferência ${run}` : ''}; nada é verificado nem conferido`,
  quarantine_full: ({ percent }) =>
    `a quarentena ocupa ${percent} % de QUARANTINE_MAX_BYTES: quando encher, webhooks que não nomeiam transação recebem 503 e os mais antigos deles são apagados`,
  report_differs: ({ days = [], sheet = '', error = '' }, { day }) =>
    `a planilha de ${days.map(day).join(' a ')} não foi publicada: a aba ${sheet} não confere com o razão (${error})`,
  report_missing: ({ days = [] }, { day }) => `não foi feito o relatório de ${days.map(day).join(', ')}`,
  restore_unconfirmed: ({ since, count }, { at }) =>
    `o banco de dados foi restaurado em ${at(since)}, e ${count} callbacks esperam pela confirmação: confere doctor --restored`,
  run_failed: ({ run, trigger = '' }) =>
    `a conferência ${run} (${describeCode(PT_BR_TRIGGERS, trigger)}) não conseguiu do provedor tudo o que pediu; os dias que leu ficam provados`,
  time_zone_differs: ({ zone, minutes, fits }) =>
    `PROVIDER_TIME_ZONE ${zone} está a ${minutes} minutos do que dizem os ids E2E; serviria: ${fits}`,
  two_writers: ({ hosts = [] }) => `${hosts.join(' e ')} aceitam gravações e são servidores diferentes`,
  webhook_loss_rate: ({ count, total, percent, since }, { at }) =>
    `${count} de ${total} mudanças desde ${at(since)} vieram sem o seu webhook (${percent} %)`,
  witness_away: ({ hosts = [], since }, { at }) => `${hosts.join()} não assina nada desde ${at(since)}`,
  witness_refused: ({ hosts = [], error = '' }) => `${hosts.join()} recusa o nosso registro: ${error}`,
  worker_dead: ({ parts = [] }, { at }) =>
    `nenhum worker dá sinal de vida (${parts.map(({ part, since }) => `${describeCode(PT_BR_PARTS, part)} ${since ? `desde ${at(since)}` : 'nunca'}`).join(', ')})`,
};

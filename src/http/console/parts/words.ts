import type { Role } from '../../../access/roles.ts';
import { PT_BR_PARTS, PT_BR_TRIGGERS } from '../../../texts/alerts/codes-pt-br.ts';
import { describeCode } from '../../../texts/fill.ts';
import { language } from '../../../texts/language.ts';
import { textsOf } from '../../../texts/reports/texts.ts';
import { words, wordsBy } from '../../../texts/translate.ts';

/** The console's names for codes. A code that reports show too has the report's name. */
export const STATUS_WORDS = reportWords('statuses');
export const OPERATION_WORDS = reportWords('operations');
export const SEVERITY_WORDS = reportWords('severities');
/** Accounts of the ledger, without their platforms. */
export const ACCOUNT_WORDS = reportWords('accounts');
export const ORDER_STATE_WORDS = reportWords('orderStates');
export const MISMATCH_STATE_WORDS = reportWords('mismatchStates');
export const ADJUSTMENT_WORDS = reportWords('adjustmentKinds');
export const REPORT_STATE_WORDS = reportWords('states');
export const MISMATCH_MEANINGS = reportWords('mismatchKinds');
/** Why a webhook is in quarantine. */
export const WEBHOOK_REASON_WORDS = reportWords('webhookReasons');

export const ALERT_STATE_WORDS: Record<string, string> = words({ firing: 'Ativo', ended: 'Encerrado' });

export const RUN_STATE_WORDS: Record<string, string> = words({
  queued: 'Na fila',
  running: 'Em curso',
  complete: 'Completa',
  incomplete: 'Incompleta',
  failed: 'Falhou',
});

export const WEBHOOK_STATE_WORDS: Record<string, string> = words({
  pending: 'Pendente',
  applied: 'Aplicado',
  quarantined: 'Quarentena',
});

export const CALLBACK_STATE_WORDS: Record<string, string> = words({
  pending: 'Pendente',
  held: 'Retido',
  delivered: 'Entregue',
  failed: 'Falhou',
});

/** Why an attempt got no HTTP answer. */
export const ATTEMPT_ERROR_WORDS: Record<string, string> = words({
  timeout: 'sem resposta a tempo',
  connect: 'não conectou',
  connection_lost: 'conexão perdida',
  dns: 'endereço não encontrado',
  tls: 'certificado ou TLS',
  forbidden_address: 'endereço proibido',
  headers_too_large: 'cabeçalhos grandes demais',
  bad_response: 'resposta que não é HTTP',
  not_renderable: 'o razão não tem o evento',
  no_provider_body: 'o formato do provedor não tem esta mensagem',
});

export const MERCHANT_STATE_WORDS: Record<string, string> = words({
  enabled: 'Ativo',
  paused: 'Pausado',
  disabled: 'Desativado',
});

export const ENTRY_KIND_WORDS: Record<string, string> = words({
  event: 'Lançamento',
  commission: 'Tarifa conhecida depois',
  held_at_opening: 'Retido na abertura dos livros',
  opening: 'Saldo inicial',
  adjustment: 'Ajuste',
  reversal: 'Estorno',
});

export const OPERATION_CHOICES: Record<string, string> = words({ cashin: 'a receber', cashout: 'a pagar' });

export const RESOLUTION_WORDS = reportWords('resolutions');

export const ROLE_WORDS: Record<Role, string> = wordsBy(
  ['viewer', 'accountant', 'operator', 'admin'],
  (role) => textsOf(language()).roles[role],
);

export const TOKEN_STATE_WORDS: Record<string, string> = words({
  live: 'Ativo',
  expired: 'Expirado',
  revoked: 'Revogado',
});

export const TRIGGER_WORDS: Record<string, string> = words(PT_BR_TRIGGERS);

export const JOB_WORDS: Record<string, string> = words({
  reconcile_recent: 'Confere hoje e ontem',
  reconcile_week: 'Confere 7 dias',
  reconcile_month: 'Confere 35 dias',
  reconcile_counts: 'Confere 96 dias por contagem',
  reconcile_quarter: 'Confere 96 dias',
  reconcile_open: 'Confere transações em aberto',
  watch: 'Vigia do sistema',
  daily_report: 'Relatórios do dia',
  day_manifests: 'Manifestos do dia dos lojistas',
  check_books: 'Verifica os livros desde a última prova',
  check_all_books: 'Verifica os livros inteiros',
  manifest: 'Publica a âncora dos livros',
  retention: 'Apaga o que venceu',
});

/** Outcomes of a job's tick, and states of a job. */
export const JOB_OUTCOME_WORDS: Record<string, string> = words({
  done: 'Feita',
  running: 'Em curso',
  failed: 'Falhou',
  overdue: 'Atrasada',
  failing: 'Falha repetida',
  never: 'Ainda não rodou',
  off: 'Desligada',
});

/** States and parts of a process. */
export const PART_WORDS: Record<string, string> = words({
  alive: 'Vivo',
  silent: 'Calado',
  stopped: 'Encerrado',
  ...PT_BR_PARTS,
});

export const CHECK_WORDS: Record<string, string> = words({
  database: 'Banco de dados',
  grants: 'Permissões no banco de dados',
  clock: 'Relógio',
  data: 'Diretório de dados',
  spool: 'Arquivos do spool',
  stated: 'Datas informadas',
  sizes: 'Espaço',
  disks: 'Discos',
  archives: 'Arquivos de versões anteriores',
  provider: 'Provedor',
  issuer: 'Contas da empresa',
  books: 'Livros',
});

type ReportWords =
  | 'accounts'
  | 'statuses'
  | 'operations'
  | 'severities'
  | 'mismatchStates'
  | 'orderStates'
  | 'adjustmentKinds'
  | 'resolutions'
  | 'states'
  | 'mismatchKinds'
  | 'webhookReasons';

/** Words that the sheets have in both languages. */
function reportWords(name: ReportWords): Record<string, string> {
  return wordsBy(Object.keys(textsOf('pt-BR')[name]), (code) => describeCode(textsOf(language())[name], code));
}

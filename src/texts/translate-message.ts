/**
 * Translates messages of the program itself: errors of runs and jobs, findings of `confere doctor`, faults of files. The
 * program writes them in English, since logs, the API and the command line have them too. The catalogue has each one as its
 * English text, with names in the place of values, so a message is recognized by it.
 */
import { EN } from './console/catalogue.ts';
import { fill } from './fill.ts';
import { language } from './language.ts';
import type { Text } from './translate.ts';

/** A message is the first of these that fits: a longer one stands before the one that it contains. */
const MESSAGES = [
  'innodb_flush_log_at_trx_commit não é 1: uma queda de energia pode perder o que já foi respondido',
  '{version}, gravado em disco a cada commit',
  'o TLS não tem nome a conferir em {hosts}: escreva nomes de máquinas',
  'todos os processos gravam em {host} (desde {at})',
  'nada impede este usuário de: {list}. Veja Grants em docs/operating.md',
  'só gatilhos impedem este usuário de {list}; rode confere migrate --grants para restringir as permissões',
  'este usuário pode acrescentar a {tables}, e não alterar',
  'o relógio desta máquina está a {n} ms do relógio do banco: acerte os dois por NTP',
  '{n} ms entre o relógio desta máquina e o do banco',
  '{path} aceita gravações',
  '{path} ainda não existe: serve o cria',
  '{path} não pode ser lido e gravado ({code})',
  '{path} tem {damaged} arquivos danificados (.torn) e {refused} recusados (.refused), que podem conter webhooks já respondidos: veja docs/runbooks.md, "spool_files_kept"',
  'nenhum arquivo danificado ou recusado',
  'SPOOL_DIR não está configurado: com o banco fora do ar, webhooks são recusados',
  'a abertura {id} é de {day}, um dia por vir: nada da plataforma {platform} é lançado',
  'desfaça-a com confere open --undo {id}',
  'o ajuste {id} é de {day}, um dia por vir: estorne-o',
  'o saldo informado {id} é de {at}, um instante por vir',
  'nenhuma abertura, ajuste ou saldo informado tem data futura',
  'o banco de dados ({size}, cresce {growth} por dia)',
  'o banco de dados ({size} ao todo)',
  '{name} ({size}, cresce {growth} por dia)',
  '{name} ({size} ao todo)',
  'o disco de {name} tem {free} livres e enche em {n} dias',
  'o disco de {name} tem {free} livres',
  'menos que DISK_FREE_MIN ({size})',
  'nenhum arquivo restou',
  '{n} arquivos têm linhas da auditoria; o primeiro é {file}: rode confere migrate',
  '{files} arquivos têm {n} corpos de webhooks: rode confere archives restore, ou confere archives delete',
  'PROVIDER_URL e PROVIDER_API_KEY não estão configuradas: serve e reconcile precisam delas',
  'o provedor não tem a primeira página da sua lista',
  'aceita a chave da API e anuncia {n} transações em {day}',
  'OIDC_ISSUER não está configurado: as pessoas entram com tokens',
  'o relógio desta máquina está a {n} ms do relógio do emissor: os tokens de identidade seriam recusados; use NTP',
  '{host} responde, sem página para sair',
  '{host} responde',
  'ele não diz a hora',
  '{n} ms entre o relógio dele e o desta máquina',
  'ele precisa conhecer {url}',
  'espera por dias que outra conferência lê',
  'espera pelo provedor, que pediu {n} s',
  'espera pelo banco de dados',
  'uma falha inesperada: veja o log',
  'PROVIDER_URL e PROVIDER_API_KEY são necessárias',
  'o provedor pediu uma pausa; a próxima tentativa vem depois',
  'parou enquanto esperava pelo provedor',
  'parou antes de {method}',
  'o provedor não respondeu a {method} ({code})',
  'o provedor redireciona ({status}): a PROVIDER_URL está certa?',
  'o provedor mostrou {n} transações, e não uma',
  'o provedor respondeu {status}',
  'o provedor recusa a PROVIDER_API_KEY (401)',
  'o provedor não deixa a PROVIDER_API_KEY listar (403)',
  'o provedor não conhece o que se pediu',
  'o provedor recusou o pedido ({status})',
  'a resposta do provedor ({status}) não é JSON',
  'o provedor mostrou outra transação que não a pedida',
  'a lista do provedor tem outra forma',
  '{n} linhas não têm um id legível',
  'a página depois da última trouxe ids novos',
  'o total caiu de {from} para {to}',
  'o total subiu {grown}, mas só {created} foram criadas desde então',
  'o total variou entre {min} e {max}',
  '{pages} páginas só repetiam outra: foram vistos {seen} ids de {total}',
  'foram vistos {seen} ids de {total}',
  'a página {page} tinha {rows} linhas, e não {full}',
  '{n} processos morreram ou perderam a vez enquanto a rodavam',
  'o endereço respondeu 410 Gone',
  'nenhuma tentativa teve sucesso em 5 dias',
  'removido',
  'é maior que o limite de {n} bytes',
  'está vazio',
  'não é XLSX nem CSV',
  'está em UTF-16: salve-o como CSV em UTF-8, ou como XLSX',
  'é de um Excel antigo: salve-o como XLSX',
  'não é um XLSX inteiro: salve-o de novo como XLSX',
  'tem senha: salve-o sem ela',
  'as planilhas {one} e {other} têm o cabeçalho: mande cada uma num arquivo',
  'as aspas que abrem na linha {line} não têm fim',
  'há texto depois das aspas que fecham na linha {line}',
  'o arquivo é maior que {n} MiB',
  'não é uma página desta lista: abra a lista de novo',
] as const satisfies readonly Text[];

/** The English text of each, split at its values: literals at even places, names at odd ones. */
const PATTERNS = MESSAGES.map((text) => ({ text, pieces: EN[text].split(/\{(\w+)\}/) }));
/** Joins the messages of one finding; a code stands before the message of an error. */
const SEPARATOR = '; ';
const CODE = /^([a-z_]+): (.+)$/s;

/** Returns a message in the language of the request; undefined for one that only English has. */
export function translateMessage(message: string): string | undefined {
  if (language() === 'en') return message;
  const whole = translateOne(message);
  if (whole !== undefined) return whole;
  const [, code, error = ''] = CODE.exec(message) ?? [];
  const said = translateOne(error);
  if (code !== undefined && said !== undefined) return `${code}: ${said}`;
  const parts = message.split(SEPARATOR).map(translateOne);
  return parts.some((part) => part === undefined) ? undefined : parts.join(SEPARATOR);
}

function translateOne(message: string): string | undefined {
  for (const { text, pieces } of PATTERNS) {
    const values = readValues(message, pieces);
    if (values) return fill(text, values);
  }
  return undefined;
}

/**
 * Reads the values of a message, each at least one character and as short as it can be. A pattern with several values of any
 * text takes quadratic time and more. @returns undefined for another message.
 */
function readValues(message: string, pieces: readonly string[]): Record<string, string> | undefined {
  const [start = ''] = pieces;
  const end = pieces.length > 1 ? (pieces.at(-1) ?? '') : '';
  if (pieces.length === 1 ? message !== start : !message.startsWith(start)) return undefined;
  const values: [string, string][] = [];
  let at = start.length;
  for (let index = 1; index < pieces.length; index += 2) {
    const isLast = index === pieces.length - 2;
    const to = isLast ? message.length - end.length : message.indexOf(pieces[index + 1] ?? '', at + 1);
    if (to <= at) return undefined;
    values.push([pieces[index] ?? '', message.slice(at, to)]);
    at = to + (pieces[index + 1]?.length ?? 0);
  }
  return message.endsWith(end) ? Object.fromEntries(values) : undefined;
}

/** Messages of the program itself, word for word as it writes them: `translate-message.ts` recognizes a message by them. */
export const MESSAGES_EN = {
  // checks of the system
  'innodb_flush_log_at_trx_commit não é 1: uma queda de energia pode perder o que já foi respondido':
    'innodb_flush_log_at_trx_commit is not 1: a power cut can lose what was answered',
  '{version}, gravado em disco a cada commit': '{version}, flushed at every commit',
  'o TLS não tem nome a conferir em {hosts}: escreva nomes de máquinas':
    "TLS can't check a name for {hosts}: write host names",
  'todos os processos gravam em {host} (desde {at})': 'all processes write to {host} (since {at})',
  'nada impede este usuário de: {list}. Veja Grants em docs/operating.md':
    'nothing prevents this user from: {list}. See docs/operating.md, Grants',
  'só gatilhos impedem este usuário de {list}; rode confere migrate --grants para restringir as permissões':
    'only triggers prevent this user from {list}; run confere migrate --grants for restricted privileges',
  'este usuário pode acrescentar a {tables}, e não alterar': 'this user can add to {tables}, and not change them',
  'o relógio desta máquina está a {n} ms do relógio do banco: acerte os dois por NTP':
    "this machine's clock is {n} ms away from the database's: set both by NTP",
  '{n} ms entre o relógio desta máquina e o do banco': "{n} ms between this machine's clock and the database's",
  '{path} aceita gravações': '{path} can be written to',
  '{path} ainda não existe: serve o cria': '{path} does not exist yet: serve creates it',
  '{path} não pode ser lido e gravado ({code})': "{path} can't be read and written to ({code})",
  '{path} tem {damaged} arquivos danificados (.torn) e {refused} recusados (.refused), que podem conter webhooks já respondidos: veja docs/runbooks.md, "spool_files_kept"':
    '{path} holds {damaged} damaged (.torn) and {refused} refused (.refused) files, which may hold webhooks that were answered: see docs/runbooks.md, "spool_files_kept"',
  'nenhum arquivo danificado ou recusado': 'no damaged or refused files',
  'SPOOL_DIR não está configurado: com o banco fora do ar, webhooks são recusados':
    'SPOOL_DIR is not set: while the database is away, webhooks are refused',
  'a abertura {id} é de {day}, um dia por vir: nada da plataforma {platform} é lançado':
    'opening {id} is of {day}, a day to come: nothing of platform {platform} is booked',
  'desfaça-a com confere open --undo {id}': 'confere open --undo {id}',
  'o ajuste {id} é de {day}, um dia por vir: estorne-o': 'adjustment {id} is of {day}, a day to come: reverse it',
  'o saldo informado {id} é de {at}, um instante por vir': 'statement {id} is of {at}, an instant to come',
  'nenhuma abertura, ajuste ou saldo informado tem data futura':
    'no opening, adjustment or statement is of a time to come',
  'o banco de dados ({size}, cresce {growth} por dia)': 'the database ({size}, growing by {growth} a day)',
  'o banco de dados ({size} ao todo)': 'the database ({size} in all)',
  '{name} ({size}, cresce {growth} por dia)': '{name} ({size}, growing by {growth} a day)',
  '{name} ({size} ao todo)': '{name} ({size} in all)',
  'o disco de {name} tem {free} livres e enche em {n} dias':
    'the disk of {name} has {free} free, and is full in {n} days',
  'o disco de {name} tem {free} livres': 'the disk of {name} has {free} free',
  'menos que DISK_FREE_MIN ({size})': 'less than DISK_FREE_MIN ({size})',
  'nenhum arquivo restou': 'no archive is left',
  '{n} arquivos têm linhas da auditoria; o primeiro é {file}: rode confere migrate':
    '{n} files have rows of the audit, the first is {file}: run confere migrate',
  '{files} arquivos têm {n} corpos de webhooks: rode confere archives restore, ou confere archives delete':
    '{files} files have {n} bodies of webhooks: run confere archives restore, or confere archives delete',
  'PROVIDER_URL e PROVIDER_API_KEY não estão configuradas: serve e reconcile precisam delas':
    'PROVIDER_URL and PROVIDER_API_KEY are not set: serve and reconcile need them',
  'o provedor não tem a primeira página da sua lista': 'the provider has no first page of its list',
  'aceita a chave da API e anuncia {n} transações em {day}':
    'accepts the API key and reports {n} transactions on {day}',
  'OIDC_ISSUER não está configurado: as pessoas entram com tokens': 'OIDC_ISSUER is not set: people log in by tokens',
  'o relógio desta máquina está a {n} ms do relógio do emissor: os tokens de identidade seriam recusados; use NTP':
    "this machine's clock is {n} ms away from the issuer's: ID tokens would be refused; use NTP",
  '{host} responde, sem página para sair': '{host} answers, without a page to log out',
  '{host} responde': '{host} answers',
  'ele não diz a hora': 'it states no time',
  '{n} ms entre o relógio dele e o desta máquina': "{n} ms between its clock and this machine's",
  'ele precisa conhecer {url}': 'it must know {url}',
  // why a run waits, or has failed
  'espera por dias que outra conferência lê': 'waits for days that another run reads',
  'espera pelo provedor, que pediu {n} s': 'waits for the provider, which asked for {n} s',
  'espera pelo banco de dados': 'waits for the database',
  'uma falha inesperada: veja o log': 'an unexpected failure: see the log',
  'PROVIDER_URL e PROVIDER_API_KEY são necessárias': 'PROVIDER_URL and PROVIDER_API_KEY are required',
  'o provedor pediu uma pausa; a próxima tentativa vem depois': 'the provider asked for a pause; retrying later',
  'parou enquanto esperava pelo provedor': 'stopped while waiting for the provider',
  'parou antes de {method}': 'stopped before {method}',
  'o provedor não respondeu a {method} ({code})': 'the provider did not answer {method} ({code})',
  'o provedor redireciona ({status}): a PROVIDER_URL está certa?':
    'the provider redirects ({status}): is PROVIDER_URL right?',
  'o provedor mostrou {n} transações, e não uma': 'the provider answered {n} transactions, not one',
  'o provedor respondeu {status}': 'the provider answered {status}',
  'o provedor recusa a PROVIDER_API_KEY (401)': 'the provider refuses PROVIDER_API_KEY (401)',
  'o provedor não deixa a PROVIDER_API_KEY listar (403)': 'the provider forbids PROVIDER_API_KEY to list (403)',
  'o provedor não conhece o que se pediu': 'the provider knows no such thing',
  'o provedor recusou o pedido ({status})': 'the provider refused the request ({status})',
  'a resposta do provedor ({status}) não é JSON': "the provider's answer ({status}) is no JSON",
  'o provedor mostrou outra transação que não a pedida':
    'the provider showed another transaction than it was asked for',
  'a lista do provedor tem outra forma': "the provider's list is of another shape",
  // why a pass proves nothing
  '{n} linhas não têm um id legível': '{n} rows have no id that can be read',
  'a página depois da última trouxe ids novos': 'the page after the last brought new ids',
  'o total caiu de {from} para {to}': 'the total fell from {from} to {to}',
  'o total subiu {grown}, mas só {created} foram criadas desde então':
    'the total rose by {grown}, but {created} were created since',
  'o total variou entre {min} e {max}': 'the total wavered between {min} and {max}',
  '{pages} páginas só repetiam outra: foram vistos {seen} ids de {total}':
    '{pages} pages only repeated another one: {seen} ids were seen of {total}',
  'foram vistos {seen} ids de {total}': '{seen} ids were seen of {total}',
  'a página {page} tinha {rows} linhas, e não {full}': 'page {page} held {rows} rows, not {full}',
  // jobs and merchants
  '{n} processos morreram ou perderam a vez enquanto a rodavam':
    '{n} processes died or lost their lease while they ran it',
  'o endereço respondeu 410 Gone': 'its address answered 410 Gone',
  'nenhuma tentativa teve sucesso em 5 dias': 'no attempt has succeeded for 5 days',
  removido: 'removed',
  // files and forms that cannot be read
  'é maior que o limite de {n} bytes': 'it has more than {n} bytes',
  'está vazio': 'it is empty',
  'não é XLSX nem CSV': 'it is neither an XLSX nor a CSV',
  'está em UTF-16: salve-o como CSV em UTF-8, ou como XLSX': 'it is in UTF-16: save it as a CSV in UTF-8, or as XLSX',
  'é de um Excel antigo: salve-o como XLSX': 'it is a file of an old Excel: save it as XLSX',
  'não é um XLSX inteiro: salve-o de novo como XLSX': 'it is no zip, or it was cut off',
  'tem senha: salve-o sem ela': 'it is encrypted',
  'as aspas que abrem na linha {line} não têm fim': 'the quotes that open in line {line} have no end',
  'as planilhas {one} e {other} têm o cabeçalho: mande cada uma num arquivo':
    'sheets {one} and {other} have the header: give each in a file of its own',
  'há texto depois das aspas que fecham na linha {line}': 'text follows the quotes that close in line {line}',
  'o arquivo é maior que {n} MiB': 'the file is larger than {n} MiB',
  'não é uma página desta lista: abra a lista de novo': 'is not a valid cursor',
};

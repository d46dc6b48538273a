/** The map of accounts, and files that people import. */
export const ACCOUNTS_EN = {
  'Plano de contas': 'Chart of accounts',
  'As contas da empresa que os lançamentos contábeis usam no lugar das contas do razão.':
    'The company’s accounts, which accounting entries use in place of the ledger’s accounts.',
  'Contas com movimento e sem linha: {accounts}.': 'Accounts with entries and without a row: {accounts}.',
  'Contas mapeadas': 'Mapped accounts',
  'Nenhuma conta está mapeada até agora.': 'No account is mapped yet.',
  'Conta do razão': 'Ledger account',
  Código: 'Code',
  Categoria: 'Category',
  'Centro de custo': 'Cost center',
  Histórico: 'Standard text',
  'Trocar o plano': 'Replace the map',
  'Uma linha por conta, com ponto e vírgula entre os campos': 'One line an account, with semicolons between the fields',
  'Uma linha com plataforma vale só para ela. Linhas só com a conta são ignoradas.':
    'A line with a platform holds for it alone. Lines with only an account are ignored.',
  // the formats of files
  'Lançamentos contábeis (CSV)': 'Accounting entries (CSV)',
  'Lançamentos para Conta Azul': 'Entries for Conta Azul',
  'Lançamentos para Calima': 'Entries for Calima',
  OFX: 'OFX',
  'Os lançamentos usam o {link} da empresa.': 'Entries use the company’s {link}.',
  'plano de contas': 'chart of accounts',
  'Faltam contas no plano de contas: {accounts}.': 'The chart of accounts lacks accounts: {accounts}.',
  // faults
  'o cabeçalho é {value}': 'the header is {value}',
  'o plano não tem linhas': 'the map has no rows',
  'no máximo {value} linhas': 'at most {value} rows',
  'não é conta do razão; as contas são {value}': 'no account of the ledger: they are {value}',
  'a mesma conta e plataforma estão numa linha anterior': 'the same account and platform are in an earlier line',
  'nada se sabe da plataforma {value}': 'nothing is known of the platform {value}',
  'escreva um código ou uma categoria': 'write a code or a category',
  'no máximo {value} caracteres': 'at most {value} characters',
  'escreva um número': 'write a number',
  'escreva uma só linha, que comece com letra ou algarismo': 'write one line that begins with a letter or a digit',
  // files that people import
  'Importar um arquivo': 'Import a file',
  'Todas as linhas são importadas, ou nenhuma. O mesmo arquivo, outra vez, não importa nada.':
    'All rows are imported, or none. The same file, once more, imports nothing.',
  'XLSX ou CSV, até {table} MiB: só a primeira aba é lida. Extrato bancário também em OFX, até {ofx} MiB.':
    'XLSX or CSV, up to {table} MiB: only the first sheet is read. A bank statement also as OFX, up to {ofx} MiB.',
  'O seu papel não permite importar isto.': 'Your role does not allow you to import this.',
  'Conferir o arquivo': 'Check the file',
  'Nada foi importado: corrija o arquivo e envie-o de novo.':
    'Nothing was imported: correct the file and send it again.',
  'Este arquivo já foi importado, por {by}: nada seria importado outra vez.':
    'This file was imported before, by {by}: nothing would be imported again.',
  Arquivo: 'File',
  Modelos: 'Templates',
  'Não há modelos.': 'There are no templates.',
  Colunas: 'Columns',
  Importados: 'Imported',
  'Nenhum arquivo foi importado até agora.': 'No file was imported yet.',
  'Linhas que mudam algo': 'Rows that change something',
  'Por quem': 'By whom',
  'SHA-256': 'SHA-256',
  // faults of a file
  'linha {row}: {text}': 'row {row}: {text}',
  'linha {row}, {column}: {text}': 'row {row}, {column}: {text}',
  'o arquivo não pôde ser lido: {value}': 'the file cannot be read: {value}',
  'o arquivo não tem linhas': 'the file has no rows',
  'falta o valor': 'the value is missing',
  'escreva um valor como 1.234,56, com até duas casas': 'write an amount such as 1,234.56, with at most two decimals',
  'zero não muda nada': 'zero changes nothing',
  'escreva um dia como 20/11/2026': 'write a day such as 2026-11-20',
  'escreva um dia e uma hora como 20/11/2026 18:00; meia-noite, numa célula formatada como texto':
    'write a day and a time such as 2026-11-20 18:00; midnight, in a cell formatted as text',
  'escreva um destes: {value}': 'write one of these: {value}',
  'está oculta: mostre-a, ou tire-a': 'is hidden: show it, or delete it',
  'tem separadores e um fim de linha: aspas soltas podem abranger linhas':
    'holds separators and the end of a line: quotes that belong to no field may hold rows',
  'pode continuar no campo seguinte: escreva "10,50" entre aspas, ou 10.50':
    'may go on in the next field: write "10,50" in quotes, or 10.50',
  'pode ser mês/dia: assim as linhas distam dias, e como dia/mês distam meses; escreva 2026-11-20':
    'may be month/day: the rows are days apart so, and months apart as day/month; write 2026-11-20',
  'Linhas deixadas de fora': 'Rows left out',
  'acima do cabeçalho': 'above the header',
  'o total': 'the total',
  'uma nota': 'a note',
  'é um número com casas, ou de mais de 15 algarismos: formate a célula como texto e digite de novo':
    'is a number with decimals, or of more than 15 digits: format the cell as text and type it again',
  'é um número em notação científica, que perdeu algarismos: formate a coluna como texto e digite de novo':
    'is a number in scientific notation, whose digits are lost: format the column as text and type it again',
  'tem um sinal, e D/C também diz o sentido: escreva-o sem sinal':
    'has a sign, and D/C says the direction too: write it without a sign',
  'está acima do cabeçalho: leve-a para baixo dele, ou tire-a': 'stands above the header: move it below, or delete it',
  'é um total entre linhas: tire-a': 'is a total between rows: delete it',
  'é o total, e as linhas somam {value}: junte as linhas que faltam, ou tire-a':
    'is the total, and the rows add up to {value}: add the rows that are missing, or delete it',
  'é uma data da planilha: formate a célula como texto e digite de novo':
    'is a date of the spreadsheet: format the cell as text and type it again',
  'tem uma fórmula: cole o valor': 'has a formula: paste its value',
  'é de células mescladas ({value}): separe-as': 'belongs to merged cells ({value}): split them',
  'tem um erro, ou um valor de outro tipo': 'has an error, or a value of another type',
  'tem mais campos que o cabeçalho': 'has more fields than the header',
  'Este dia não pode ser: ainda não começou, ou os livros da plataforma abrem depois dele.':
    'This day cannot be: it has not begun, or the books of the platform open after it.',
  'Este instante não pode ser: ainda não passou, ou é de antes do PIX.':
    'This instant cannot be: it has not passed, or it is before PIX.',
  'escreva banco, agência e conta com / entre eles, como 341/1234/56789-0':
    'write bank, branch and number with / between them, such as 341/1234/56789-0',
  'é uma linha de saldo: tire-a': 'it shows a balance: leave it out',
  'Outra linha da conta já tem este identificador.': 'Another line of the account has this identifier.',
  'Uma linha anterior deste dia tem outro saldo.': 'An earlier line of this day has another balance.',
  'Este nome não pode ser: até 60 caracteres numa linha, sem documento, telefone ou e-mail.':
    'This name cannot be: up to 60 characters on one line, without a document, a phone or an e-mail.',
};

/** The map of accounts, and files that people import. */
export const ACCOUNTS_EN = {
  'Plano de contas': 'Chart of accounts',
  'As contas da empresa que os lançamentos contábeis usam no lugar das contas do razão.':
    'The company’s accounts, which accounting entries use in place of the ledger’s accounts.',
  ativo: 'asset',
  passivo: 'liability',
  'patrimônio líquido': 'equity',
  despesa: 'expense',
  'Contas com movimento e sem linha: {accounts}. Um arquivo pede só as que ele usa.':
    'Accounts with entries and without a row: {accounts}. A file asks only for those that it uses.',
  'Contas mapeadas': 'Mapped accounts',
  'Nenhuma conta está mapeada até agora.': 'No account is mapped yet.',
  'Conta do razão': 'Ledger account',
  Código: 'Code',
  Categoria: 'Category',
  'Centro de custo': 'Cost center',
  Histórico: 'Standard text',
  'Recebimentos e Pagamentos são contas de passagem, por isso no passivo: o razão não sabe se o que entrou é receita, adiantamento ou de terceiros, nem o que se pagou. Escreva nelas a conta em que a empresa lança isso, como Clientes, Receita ou Fornecedores.':
    'Receipts and Payments are accounts of passage, hence among the liabilities: the ledger does not know whether what came in is revenue, an advance or of others, nor what was paid for. Write the account in which the company books it, such as Customers, Revenue or Suppliers.',
  'Devoluções feitas e Devoluções recebidas podem ter contas próprias, como Devoluções de vendas. Sem linha, a de um recebimento é lançada na conta de Recebimentos, a de um pagamento na de Pagamentos.':
    'Refunds made and Refunds received may have accounts of their own, such as Sales returns. Without a row, that of a receipt is posted to the account of Receipts, that of a payment to that of Payments.',
  'Saldo inicial só é usada num arquivo que começa antes do dia em que um saldo inicial foi informado: no primeiro dia do arquivo, ele já é o saldo de partida, que você lança uma vez no seu programa.':
    'Opening balance is used only in a file that begins before the day of a stated opening balance: on the first day of the file it is the balance to begin with, which you enter once in your program.',
  'Cada linha tem um código ou uma categoria; Conta Azul usa a categoria, os outros o código. Código: até {code} caracteres; categoria: até {category}; centro de custo: até {cost_center}; histórico: um número de até {history} algarismos.':
    'Each row has a code or a category; Conta Azul uses the category, the others the code. Code: up to {code} characters; category: up to {category}; cost center: up to {cost_center}; standard text: a number of up to {history} digits.',
  'Uma linha vazia não vale. O mesmo por arquivo: {link}.': 'An empty row does not count. The same by a file: {link}.',
  'Uma conta de uma só plataforma': 'An account of one platform alone',
  'Plataforma ou conta no banco': 'Platform or bank account',
  'Só a Conta no banco: {name}': 'The bank account alone: {name}',
  // the formats of files
  'Lançamentos contábeis (CSV)': 'Accounting entries (CSV)',
  'Lançamentos para Conta Azul': 'Entries for Conta Azul',
  'Lançamentos para Calima': 'Entries for Calima',
  'Pedidos a receber (CSV)': 'Receivable orders (CSV)',
  'Recebimentos não identificados (CSV)': 'Receipts not identified (CSV)',
  OFX: 'OFX',
  'Um por um': 'One by one',
  'Somados por dia, plataforma e conta': 'Added up by day, platform and account',
  'Somados ou um por um, cada conta tem o mesmo saldo; os totais de débito e de crédito diferem.':
    'Added up or one by one, each account has the same balance; the totals of debits and credits differ.',
  'Os lançamentos usam o {link} da empresa.': 'Entries use the company’s {link}.',
  'plano de contas': 'chart of accounts',
  'Sem código no plano de contas: {accounts}.': 'Without a code in the chart of accounts: {accounts}.',
  'Sem categoria no plano de contas: {accounts}.': 'Without a category in the chart of accounts: {accounts}.',
  // faults
  // files that people import
  'Importar um arquivo': 'Import a file',
  'Todas as linhas são importadas, ou nenhuma. O mesmo arquivo, outra vez, não importa nada.':
    'All rows are imported, or none. The same file, once more, imports nothing.',
  'XLSX ou CSV, até {table} MiB: só a primeira aba é lida. Extrato bancário também em OFX, até {ofx} MiB; notas fiscais em XML ou ZIP, até {zip} MiB.':
    'XLSX or CSV, up to {table} MiB: only the first sheet is read. A bank statement also as OFX, up to {ofx} MiB; invoices as XML or ZIP, up to {zip} MiB.',
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
  'Quem pode: {names}.': 'Who may: {names}.',
  'SHA-256': 'SHA-256',
  // faults of a file
  'linha {row}: {text}': 'row {row}: {text}',
  '{name}: {text}': '{name}: {text}',
  'linha {row}, {column}: {text}': 'row {row}, {column}: {text}',
  'Linhas deixadas de fora': 'Rows left out',
  'acima do cabeçalho': 'above the header',
  'o total': 'the total',
  'uma nota': 'a note',
  'não é XML': 'no XML',
  'outro modelo de documento': 'a document of another model',
  'nota de entrada': 'an invoice of what came in',
  'nota de devolução': 'an invoice of a return',
  'sem pagamento por PIX': 'no payment by PIX',
  'outro evento': 'another event',
  'cancela uma nota que não temos': 'cancels an invoice that we do not have',
};

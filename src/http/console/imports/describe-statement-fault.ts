import type { StatementFault } from '../../../ledger/bank/statement-faults.ts';
import { t } from '../../../texts/translate.ts';

const FAULTS: Record<StatementFault['kind'], (value: string | number) => string> = {
  no_account: (value) => t('falta {value}: escreva banco, agência e conta', { value }),
  many_accounts: () => t('o arquivo tem várias contas, e só uma pode receber um nome'),
  new_account: () => t('nenhum extrato mostra esta conta: diga que é nova, se é mesmo outra'),
  spelled: (value) =>
    t('nenhum extrato mostra esta conta, que pode ser {value}: escreva essa, ou diga que é nova', { value }),
  no_currency: () => t('falta CURDEF: diga que os valores são em BRL'),
  unsigned: (value) => t('{value} diz saída, e o valor não tem sinal', { value }),
  no_signs: (value) => t('{value} pode ser saída, e nenhum valor do arquivo tem sinal', { value }),
  scale: () => t('o saldo não tem decimais, e nenhum saldo anterior prova se está em centavos'),
  whole_amounts: () => t('nenhum valor tem decimais, e nenhum saldo anterior prova se estão em centavos'),
  balance_text: () => t('o texto pode ser de um saldo, de um total ou de um pagamento'),
  changed: () => t('o FITID já foi importado, com outro dia ou valor'),
  lacking: () =>
    t(
      'falta neste arquivo uma linha já importada deste valor e dia, ou deste valor e texto até 3 dias antes ou depois: pode ser a mesma',
    ),
  repeated: (value) => t('a linha {value} é igual em tudo, também no FITID', { value }),
  partial: () =>
    t(
      'o dia tem linhas sem FITID, ou com um novo, e faltam neste arquivo linhas já importadas dele: importe o dia inteiro',
    ),
};

/** Describes what a person must say of a line, in the language of the request. */
export function describeStatementFault({ kind, value = '' }: StatementFault): string {
  return FAULTS[kind](value);
}

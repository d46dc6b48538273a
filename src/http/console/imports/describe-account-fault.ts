import type { AccountFault } from '../../../ledger/stated/check-accounts.ts';
import { t } from '../../../texts/translate.ts';

/** A fault in the language of the request. */
export function describeAccountFault({ kind, value = '' }: AccountFault): string {
  switch (kind) {
    case 'no_rows':
      return t('o plano não tem linhas');
    case 'too_many_rows':
      return t('no máximo {value} linhas', { value });
    case 'unknown_account':
      return t('não é conta do razão; as contas são {value}', { value });
    case 'repeated':
      return t('a mesma conta e plataforma estão numa linha anterior');
    case 'unknown_platform':
      return t('nada se sabe da plataforma {value}', { value });
    case 'empty':
      return t('escreva um código ou uma categoria');
    case 'too_long':
      return t('no máximo {value} caracteres', { value });
    case 'no_number':
      return t('escreva um número');
    case 'no_line':
      return t('escreva uma só linha, que comece com letra ou algarismo');
  }
}

import type { OfxFault } from '../../../imports/ofx/ofx-faults.ts';
import { t } from '../../../texts/translate.ts';

type Value = string | number;

const FAULTS: Record<OfxFault['kind'], (value: Value) => string> = {
  too_large: (value) => t('o arquivo tem mais de {value} MiB', { value }),
  not_text: () => t('o arquivo não é um texto em UTF-8 ou windows-1252'),
  no_header: () => t('o arquivo não começa com um cabeçalho OFX 1.x ou 2.x'),
  no_tag: () => t('aqui deve haver um elemento, sem texto antes dele'),
  unopened: (value) => t('</{value}> não tem início', { value }),
  unclosed: (value) => t('<{value}> não tem fim', { value }),
  too_deep: (value) => t('há mais de {value} elementos um dentro do outro', { value }),
  too_many: (value) => t('o arquivo tem mais de {value} elementos', { value }),
  too_many_lines: (value) => t('o arquivo tem mais de {value} movimentos: exporte menos dias por vez', { value }),
  no_statement: () => t('o arquivo não tem extrato bancário (STMTRS)'),
  credit_card: () => t('é a fatura de um cartão de crédito: o Confere lê extratos de contas (STMTRS)'),
  bank_error: () => t('o banco respondeu com um erro em vez de um extrato (STATUS)'),
  own_file: () => t('este arquivo foi feito pelo Confere: importe o do banco'),
  missing: (value) => t('falta {value}', { value }),
  twice: (value) => t('{value} aparece duas vezes', { value }),
  too_long: (value) => t('{value} é longo demais', { value }),
  no_account: (value) => t('{value} só pode ter letras, algarismos, espaços, pontos, hifens e barras', { value }),
  no_amount: (value) => t('{value} deve ser um valor com no máximo dois decimais, sem separar milhares', { value }),
  no_day: (value) => t('{value} deve ser uma data: AAAAMMDD, talvez com a hora', { value }),
  no_brl: (value) => t('{value} deve ser BRL', { value }),
  stray: () => t('um movimento (STMTTRN) está fora da lista de um extrato (BANKTRANLIST)'),
  corrects: () => t('um movimento que corrige outro (CORRECTFITID) não é aceito'),
};

/** `linha 12: falta TRNAMT`: a fault of a file in the language of the request. */
export function describeOfxFault({ line, kind, value = '' }: OfxFault): string {
  return t('linha {line}: {fault}', { line, fault: FAULTS[kind](value) });
}

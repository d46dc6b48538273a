/** One word for one thing in the texts that people see. A new synonym goes into the table, with the term to use instead. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { PT_BR_FAULTS, PT_BR_PARTS, PT_BR_TRIGGERS } from '../../../src/texts/alerts/codes-pt-br.ts';
import { EN_SAY } from '../../../src/texts/alerts/say-en.ts';
import { PT_BR_SAY } from '../../../src/texts/alerts/say-pt-br.ts';
import { EN_TEXTS } from '../../../src/texts/alerts/texts-en.ts';
import { PT_BR_TEXTS } from '../../../src/texts/alerts/texts-pt-br.ts';
import { EN as CONSOLE } from '../../../src/texts/console/catalogue.ts';
import { MESSAGES_EN } from '../../../src/texts/messages-en.ts';
import { MESSAGES_PT_BR } from '../../../src/texts/messages-pt-br.ts';
import { NOTICES } from '../../../src/texts/notices.ts';
import { REFUSALS_EN } from '../../../src/texts/refusals-en.ts';
import { REFUSALS_PT_BR } from '../../../src/texts/refusals-pt-br.ts';
import { textsOf } from '../../../src/texts/reports/texts.ts';

const [SHEETS_PT_BR, SHEETS_EN] = [textsOf('pt-BR'), textsOf('en')];
const TEXTS = {
  'pt-BR': [
    ...[
      PT_BR_TEXTS,
      PT_BR_SAY,
      PT_BR_TRIGGERS,
      PT_BR_PARTS,
      PT_BR_FAULTS,
      MESSAGES_PT_BR,
      REFUSALS_PT_BR,
      SHEETS_PT_BR,
    ],
    NOTICES['pt-BR'],
    Object.keys(CONSOLE),
  ],
  en: [EN_TEXTS, EN_SAY, MESSAGES_EN, REFUSALS_EN, SHEETS_EN, NOTICES.en, Object.values(CONSOLE)],
};

/** Words that are never written, each with the term to use. */
const TERMS: Record<keyof typeof TEXTS, [synonym: RegExp, term: string][]> = {
  'pt-BR': [
    [/\bavisos?\b/i, 'webhook, of the provider; callback, to a merchant'],
    [/\bem dobro\b/i, 'mais de uma vez'],
    [
      /\b[on]o banco (?:não|recusa|foi|tem|demora|fora)|gravações no banco$/i,
      'banco de dados; banco is that of the account',
    ],
    [/\bpedidos? (?:ao|por segundo|demais|inválid)/i, 'requisição; pedido is an order'],
    [/\brecebimentos? esperados?\b/i, 'pedido'],
    [/\bsaldos? de abertura\b|\b(?:a|nenhuma|informar a|desfaça a) abertura\b(?! dos livros)/i, 'saldo inicial'],
    [/\bconcilia(?:d[oa]|ção)/i, 'casado, par, of orders and lines; conferência, with the provider'],
    [/\broteiros?\b|\bprocedimentos?\b/i, 'guia'],
    [/\bplanilhas?\s(?:<i>)?Alterações/i, 'aba, of a planilha'],
    [/\brelógio:|do relógio$|\bo relógio (?:tenta|ainda)/i, 'agenda; relógio is a clock'],
    [/\btrabalhador/i, 'worker'],
    [/\bquem consulta\b/i, 'papel de leitura'],
    [/^guard(?:ar|ado:)|\bguarde um menor/i, 'salvar'],
    [/\b(?:ledger|mismatch|merchant|opening|runbook|dashboard|report|the|and|is)\b(?=[ ,.;:]|$)/, 'a Portuguese word'],
  ],
  en: [
    [/\bnotices?\b/i, 'webhook, from the provider; callback, to a merchant'],
    [/\b(?:is|are|was|not|it|verified,) booked\b/i, 'posted'],
    [/\bexpected payments?\b/i, 'order'],
    [/\b(?:a|no|another|complete|newest|next) runs?\b/i, 'reconciliation'],
    [/\b(?:an?|the) opening\b(?! balance)/i, 'opening balance'],
    [/\bpanels?\b/i, 'dashboard'],
    [/\bthe operator\b|\ban operator of Confere\b/i, 'operators'],
    [/\bcan not\b/i, 'cannot'],
    [/\b(?:planilha|aba|lojista|razão|conferência|divergência|saldo)\b/i, 'an English word'],
  ],
};

/** Labels of sheets that the columns version or closed revisions hold, and names of the API. */
const KEPT = new Set<string>([
  SHEETS_PT_BR.summary.openingStated,
  SHEETS_EN.summary.stated,
  SHEETS_EN.summary.provenNo,
  REFUSALS_EN.not_found.expected_unknown,
  REFUSALS_EN.field.expected_format,
  REFUSALS_EN.forbidden.merchant_token_elsewhere,
]);

/** All texts in an object, without the values in their places. A function that makes a text counts by its source. */
function listTexts(value: unknown): string[] {
  if (typeof value === 'string') return KEPT.has(value) ? [] : [value];
  if (typeof value === 'function') return (String(value).match(/`[^`]*`|'[^']*'/g) ?? []).map(dropValues);
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(listTexts) : [];
}

function dropValues(text: string): string {
  return text.replace(/\$\{[^}]*\}/g, '').slice(1, -1);
}

describe.each(Object.entries(TERMS))('%s', (language, terms) => {
  const texts = listTexts(TEXTS[language as keyof typeof TEXTS]);
  test.each(terms)('%s is written as: %s', (synonym) => {
    expect(texts.filter((text) => synonym.test(text))).toEqual([]);
  });
});

test.each(['mail-failed-callbacks.ts', 'channels/open-merchant-email-channel.ts'])(
  'the mails of %s call a callback so',
  (file) => {
    const text = readFileSync(path.resolve(import.meta.dirname, '../../../src/alerts', file), 'utf8');
    expect(text).not.toMatch(/\bavisos?\b|\bnotices?\b/i);
  },
);

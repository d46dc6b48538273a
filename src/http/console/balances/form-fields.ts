/** Fields of the forms that move money, and the texts that people type into them. */
import type { Context } from '../../../context.ts';
import type { Day } from '../../../domain/calendar.ts';
import { END_OF_TIME } from '../../../domain/calendar.ts';
import { AMOUNT_CENTS_MAX, isTypedAmount, parseTypedAmount } from '../../../domain/money.ts';
import { PLATFORM_CHARS_MAX } from '../../../domain/platform.ts';
import { checkDayBegun } from '../../../ledger/stated/check-stated.ts';
import { type Label, t, translate } from '../../../texts/translate.ts';
import { choiceField, type Draft, formatMoneyInput, inputField, noteRefusals } from '../parts/fields.ts';
import { EXAMPLE_CENTS } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { readPlatformBalances } from '../parts/read-platform-balances.ts';
import { labelPlatform, readNamesInFull } from '../parts/read-platform-names.ts';

/** Reads an amount and notes what is wrong with it. */
export function readMoney(draft: Draft, name: string): bigint {
  const text = draft.values[name] ?? '';
  const cents = parseTypedAmount(text);
  if (cents === undefined)
    draft.faults[name] = isTypedAmount(text)
      ? t('No máximo {max}.', { max: formatMoneyInput(AMOUNT_CENTS_MAX) })
      : t('Escreva um valor como {example} ou -{example}.', { example: formatMoneyInput(EXAMPLE_CENTS) });
  return cents ?? 0n;
}

/** Reads a day that has begun and notes what is wrong with it. */
export function readDay(context: Context, draft: Draft): Day {
  const { day = '' } = draft.values;
  noteRefusals(draft, () => checkDayBegun(context, day));
  return day;
}

/** Reads a platform. Another one than those listed is typed, and so confirmed as new. */
export function readStatedPlatform(draft: Draft): { platform: string; new_platform: boolean } {
  const [listed = '', other = ''] = [draft.values.platform, draft.values.other_platform];
  if (listed !== '' && other !== '')
    draft.faults.other_platform = t('Escolha uma da lista, ou escreva outra: não as duas.');
  else if (listed === '' && other === '') draft.faults.platform = t('Escolha uma plataforma, ou escreva outra.');
  return { platform: listed || other, new_platform: other !== '' };
}

/** A field for an amount. Its hint says how the page's language writes one. */
export function moneyField(draft: Draft, field: { name: string; label: Label; hint?: Label }): Html {
  const example = formatMoneyInput(EXAMPLE_CENTS);
  const hint = field.hint
    ? t('{hint} Como {example}.', { hint: translate(field.hint), example })
    : t('Como {example}.', { example });
  return inputField(draft, { ...field, hint }, html` maxlength="32" placeholder="${example}"`);
}

/** The fields of a platform: one of those with a balance, or another one, typed. */
export async function platformFields(context: Context, draft: Draft): Promise<Html> {
  const known = (await readPlatformBalances(context, END_OF_TIME)).map(({ platform }) => platform);
  const given = draft.values.platform ?? '';
  const listed = given === '' || known.includes(given) ? known : [...known, given];
  const names = await readNamesInFull(context);
  const words = Object.fromEntries(listed.map((platform) => [platform, labelPlatform(names, platform)]));
  return html`${choiceField(draft, { name: 'platform', label: 'Plataforma', words, any: listed.length > 0 ? 'Escolha' : 'Nenhuma ainda' })}
${inputField(
  draft,
  { name: 'other_platform', label: 'Ou outra plataforma', hint: 'Só se ela ainda não está na lista.' },
  html` maxlength="${PLATFORM_CHARS_MAX}"`,
)}`;
}

import { isDeepStrictEqual } from 'node:util';
import type { Response } from 'express';
import type { Context } from '../../../context.ts';
import { addDays, addMonths, type Day, isDay, monthOf } from '../../../domain/calendar.ts';
import { parseTypedAmount } from '../../../domain/money.ts';
import { OPERATIONS } from '../../../domain/statuses.ts';
import { readContracts } from '../../../ledger/journal/read-contracts.ts';
import { listContracts } from '../../../ledger/stated/commission-contracts.ts';
import { type DayDifference, sumDifferences } from '../../../ledger/stated/read-fees.ts';
import { addCommission, BASIS_POINTS_MAX, undoCommission } from '../../../operations/books/commissions.ts';
import type { AnyChange, By, GivenOf } from '../../../operations/define-change.ts';
import { presentPlatform } from '../../../operations/mask-texts.ts';
import { describeCode } from '../../../texts/fill.ts';
import { refuse } from '../../../texts/refuse.ts';
import { plural, t } from '../../../texts/translate.ts';
import { getCaller } from '../../access/authorize.ts';
import { FEES } from '../balances/describe-stated.ts';
import { moneyField, readMoney } from '../balances/form-fields.ts';
import { ofChange, previewOf, type TwoStepForm } from '../forms/two-step-form.ts';
import { choiceField, dayField, formatMoneyInput, inputField } from '../parts/fields.ts';
import { formatCount, formatDay, money, moneyOf } from '../parts/format.ts';
import { type Html, html, tHtml } from '../parts/html.ts';
import { facts } from '../parts/page-components.ts';
import {
  readBookedPlatformWords,
  readNamesInFull,
  readPlatformNames,
  showPlatform,
} from '../parts/read-platform-names.ts';
import { OPERATION_WORDS } from '../parts/words.ts';
import { type ContractDays, describeWould, type Stated } from './describe-would.ts';
import { compareMismatches, effectTable } from './render-effect.ts';

/** The month to compare a contract by: the last one that ended, or the first of a later contract. */
function landOn({ calendar, clock }: Context, from: Day): string {
  const last = addMonths(monthOf(calendar.dayOf(clock.now())), -1);
  return `month=${monthOf(from) > last ? addMonths(last, 1) : last}`;
}

export function contractForm(context: Context): TwoStepForm<Stated, Record<string, string>> {
  return {
    ...ofChange(addCommission),
    address: `${FEES.address}/new`,
    title: 'Informar um contrato',
    lead: 'O que o provedor pode cobrar por transação: um valor fixo mais uma parte do valor. O contrato mais novo vale sobre os anteriores.',
    list: FEES,
    names: ['platform', 'operation', 'fixed', 'percent', 'from', 'to'],
    find: (_request, response) => readBookedPlatformWords(context, response),
    fields: async (
      draft,
      platforms,
    ) => html`<div class="fields">${choiceField(draft, { name: 'platform', label: 'Plataforma', words: platforms, any: 'Todas' })}
${choiceField(draft, { name: 'operation', label: 'Operação', words: OPERATION_WORDS })}
${moneyField(draft, { name: 'fixed', label: 'Valor fixo, em R$' })}
${inputField(draft, { name: 'percent', label: 'Parte do valor, em %', hint: 'Duas casas no máximo.' }, html` maxlength="6" placeholder="${formatMoneyInput(99n)}"`)}
${dayField(draft, { name: 'from', label: 'De' })}${dayField(draft, { name: 'to', label: 'Até', hint: 'Vazio: até que outro seja informado.' })}</div>`,
    read(draft) {
      const { platform, operation, from = '', to } = draft.values;
      const { fixed: typedFixed = '', percent = '' } = draft.values;
      // one may be left blank beside the other
      const fixed = typedFixed === '' && percent !== '' ? 0n : readMoney(draft, 'fixed');
      const points = percent === '' && typedFixed !== '' ? 0n : (parseTypedAmount(percent) ?? -1n);
      if (fixed < 0n) draft.faults.fixed ??= t('Escreva o valor sem sinal.');
      if (points < 0n || points > BASIS_POINTS_MAX) draft.faults.percent = t('De 0 a 100 %.');
      if (!isDay(from)) draft.faults.from = t('Escolha um dia.');
      if (to && !isDay(to)) draft.faults.to = t('Escolha um dia.');
      else if (to && to < from) draft.faults.to = t('Vem antes do primeiro dia.');
      const of = OPERATIONS.find((one) => one === operation) ?? 'cashin';
      return { platform: platform || null, operation: of, fixed, basis_points: Number(points), from, to: to || null };
    },
    async preview(stated, platforms, response) {
      const opens = await describeOpened(context, response, { change: addCommission, given: stated, days: stated });
      const would = await describeWould(context, response, stated);
      return html`${facts([
        ['Plataforma', stated.platform === null ? t('Todas') : (platforms[stated.platform] ?? stated.platform)],
        ['Operação', describeCode(OPERATION_WORDS, stated.operation)],
        ['Valor fixo, em R$', money(stated.fixed)],
        ['Parte do valor, em %', formatMoneyInput(BigInt(stated.basis_points))],
        ['De', formatDay(stated.from)],
        ['Até', stated.to && formatDay(stated.to)],
        ['Passa a valer sobre', await listOverridden(context, response, stated)],
      ])}${would}${opens}`;
    },
    landing: ({ from }) => landOn(context, from),
    done: 'contract_stated',
  };
}

/** The contracts in force over which a new one takes precedence, on their common days; no contract of a platform's own where it is for all. */
async function listOverridden(context: Context, response: Response, stated: Stated): Promise<Html | null> {
  const { platform, operation, from, to } = stated;
  const names = await readPlatformNames(context, response);
  const overridden = (await readContracts(context.db)).filter(
    (one) =>
      one.operation === operation &&
      (one.platform === platform || one.platform === null) &&
      (to === null || one.from <= to) &&
      (one.to === null || one.to >= from),
  );
  if (overridden.length === 0) return null;
  return html`<ul class="plain">${overridden.map((one) => {
    const of =
      one.platform === null
        ? t('Todas')
        : showPlatform(names, presentPlatform(getCaller(response), { platform: one.platform }).platform);
    return html`<li>${of}: ${money(one.fixedCents)} + ${formatMoneyInput(BigInt(one.basisPoints))} %, ${formatDay(one.from)} – ${one.to !== null && formatDay(one.to)}</li>`;
  })}</ul>`;
}

/** Days of a contract that a preview compares, the newest; the watch compares all of them. */
const COMPARED_DAYS_MAX = 92;

/**
 * Says the mismatches that a change of contracts opens or changes: one for each day and platform whose charges are not those
 * of the contracts. The sums are those of all of them, as in the table above.
 * @param days of the contract; the newest that are over are compared.
 */
async function describeOpened<Given, Made>(
  context: Context,
  response: Response,
  {
    change,
    given,
    days: { from: first, to: last },
  }: { change: AnyChange<Given, Made>; given: Given; days: ContractDays },
): Promise<Html> {
  const today = context.calendar.dayOf(context.clock.now());
  const to = last !== null && last < today ? last : today;
  const [, from = to] = [first, addDays(to, 1 - COMPARED_DAYS_MAX)].sort();
  const span = { from, to };
  const read = async ({ db }: Context) =>
    span.from > to ? [] : await sumDifferences(db, await readContracts(db), span);
  const known = await read(context);
  const before = new Map(known.map((one) => [`${one.day} ${one.platform}`, one]));
  let after: Awaited<ReturnType<typeof read>> = [];
  const compared = async (inner: Context, ...of: [Given, By]): Promise<Made> => {
    const made = await change.change(inner, ...of);
    after = await read(inner);
    return made;
  };
  await previewOf(context, { ...change, change: compared }, given);
  if (from > to) return html`<p class="explain">${t('Ele ainda não vale: nenhum dia se compara agora.')}</p>`;
  const was = ({ day, platform }: DayDifference) => before.get(`${day} ${platform}`);
  // those of other platforms stay as they are
  const changed = new Set(after.filter((one) => !isDeepStrictEqual(one, was(one))).map(({ platform }) => platform));
  const open = after.filter(({ platform, differing }) => differing > 0 && changed.has(platform));
  const effect = await compareMismatches(context.db, span, { before: known, after });
  const effects = effectTable(effect);
  const opened = effect.opened.later?.count ?? 0;
  const days = { from: formatDay(span.from), to: formatDay(to) };
  if (open.length === 0)
    return html`<p class="explain">${t('De {from} a {to}, nenhuma divergência de tarifas abre.', days)}</p>${effects}`;
  const names = await readPlatformNames(context, response);
  const list = [...Map.groupBy(open, ({ platform }) => platform)].map(([platform, own]) => {
    const n = formatCount(own.reduce((sum, one) => sum + one.differing, 0));
    const [charged, agreed] = (['charged', 'agreed'] as const).map((name) =>
      money(own.reduce((cents, one) => cents + one[name], 0n)),
    );
    const shown = showPlatform(names, presentPlatform(getCaller(response), { platform }).platform);
    return html`<li>${tHtml('{platform}: {n} fora do contrato, que custaram {charged} em vez de {agreed} (entradas e saídas)', { platform: shown, n, charged, agreed })}</li>`;
  });
  const changes = effect.changed.later?.count ?? 0;
  const said =
    opened === 0
      ? t('De {from} a {to}, nenhuma divergência nova de tarifas abre.', days)
      : plural(
          opened,
          'De {from} a {to}, abre uma divergência de tarifas.',
          'De {from} a {to}, abrem {n} divergências de tarifas, uma por dia e plataforma.',
          days,
        );
  return html`<div class="explain${opened > 0 && ' bad'}"><p>${said}${changes > 0 && html` ${plural(changes, '1 já existe e passa ao novo valor. Ao todo:', '{n} já existem, uma por dia e plataforma, e passam aos novos valores. Ao todo:')}`}</p><ul class="reasons">${list}</ul></div>${effects}`;
}

type Contract = Awaited<ReturnType<typeof listContracts>>[number];

/** The form that withdraws a contract. */
export function withdrawalForm(context: Context): TwoStepForm<GivenOf<typeof undoCommission>, Contract> {
  const describe = async ({ platform, operation, fixed, basis_points: points, from, to }: Contract): Promise<Html> =>
    facts([
      ['Plataforma', platform === null ? t('Todas') : showPlatform(await readNamesInFull(context), platform)],
      ['Operação', describeCode(OPERATION_WORDS, operation)],
      ['Valor fixo, em R$', moneyOf(fixed)],
      ['Parte do valor, em %', formatMoneyInput(BigInt(points))],
      ['De', formatDay(from)],
      ['Até', to && formatDay(to)],
    ]);
  return {
    ...ofChange(undoCommission),
    address: `${FEES.address}/:id/undo`,
    title: 'Retirar um contrato',
    lead: 'O contrato continua na lista e deixa de valer, também para os dias que já passaram.',
    list: FEES,
    names: [],
    async find({ params }) {
      const [contract] = await listContracts(context.db, 1, undefined, params.id);
      if (!contract) throw refuse('contract_unknown');
      return contract;
    },
    fields: (_draft, contract) => describe(contract),
    read: (_draft, { id }) => ({ withdraws: id }),
    async preview(given, contract, response) {
      const opens = await describeOpened(context, response, { change: undoCommission, given, days: contract });
      return html`${await describe(contract)}${opens}`;
    },
    landing: (_given, { from }) => landOn(context, from),
    done: 'contract_withdrawn',
  };
}

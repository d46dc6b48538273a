/** Renders the workbook in which people decide: a row for each mismatch, lists of what its cells take, and a sheet of candidates. */
import type { Context } from '../../context.ts';
import type { Language } from '../../domain/language/language.ts';
import type { MismatchKind } from '../../domain/mismatch.ts';
import { parseSum } from '../../domain/money.ts';
import { isAcceptableKind } from '../../ledger/decide/correct-transaction.ts';
import type { PresentedMismatch } from '../../mismatches/read-mismatches.ts';
import { surplusIn } from '../../reconciliation/windows/accept-surplus.ts';
import { referToCells } from '../../reports/xlsx/refer-to-cells.ts';
import { type Cell, columnName } from '../../reports/xlsx/render-cell.ts';
import type { Validation } from '../../reports/xlsx/render-validations.ts';
import { ALERT_TEXTS } from '../../texts/alerts/describe-alert.ts';
import { fill } from '../../texts/fill.ts';
import { describeSide } from '../../texts/reports/describe-evidence.ts';
import { textsOf } from '../../texts/reports/texts.ts';
import { DECISION_WORDS, DECISIONS, DECISIONS_MAX, NOTE_MAX } from '../kinds/decisions.ts';
import { renderWorkbook } from '../render-template.ts';
import type { DecisionName } from './decide-case.ts';

/** A mismatch as the reader may see it. */
export type ShownCase = {
  mismatch: PresentedMismatch;
  /** The transaction or the expected payment. */
  about: string | null;
  owner: string | null;
  /** By its name, else by its id; null: all. */
  platform: string | null;
  candidates: readonly { name: string; cents: bigint }[];
  hash: string;
};

const WORDS: Record<Language, Record<'candidates' | 'amount' | 'who' | 'more', string>> = {
  'pt-BR': {
    candidates: 'Candidatos',
    amount: 'valor',
    who: 'Quem envia a planilha de volta é um operador, no console, em Saldos, Importar um arquivo, tipo {kind}. Um contador pode preenchê-la e entregá-la a ele.',
    more: 'São as primeiras {n}, e há mais: decida estas e baixe a planilha de novo, ou filtre.',
  },
  en: {
    candidates: 'Candidates',
    amount: 'amount',
    who: 'An operator sends the workbook back, in the console, at Balances, Import a file, type {kind}. An accountant may fill it in and hand it to one.',
    more: 'These are the first {n}, and there are more: decide these and download the workbook again, or filter.',
  },
};
const WIDTHS = {
  ...{
    kind: 34,
    severity: 12,
    opened: 20,
    age: 10,
    owner: 18,
    stake: 14,
    about: 40,
    day: 12,
    platform: 38,
    candidates: 12,
  },
  ...{ decision: 12, which: 40, note: 40, mismatch: 38, seen: 36 },
};
const NAMES = Object.keys(DECISIONS.columns);
/** The table begins below its header. */
const FIRST_ROW = 2;

/** @param isCut whether more are open than the workbook has. */
export async function renderCases(
  context: Pick<Context, 'config' | 'calendar'>,
  cases: readonly ShownCase[],
  { language, isCut }: { language: Language; isCut: boolean },
): Promise<Buffer> {
  const words = WORDS[language];
  const filled = {
    ...{ kind: DECISIONS, widths: WIDTHS, rows: cases.map((one) => listCells(context, one, language)) },
    validations: [
      ...limitDecisions(cases, language),
      ...limitCandidates(cases, words.candidates),
      ...limitNotes(cases),
    ],
    beside: cases.some(({ candidates }) => candidates.length > 0) ? [listCandidates(cases, language)] : [],
  };
  const who = fill(words.who, { kind: DECISIONS.titles[language] });
  const notes = isCut ? [who, fill(words.more, { n: String(DECISIONS_MAX) })] : [who];
  return await renderWorkbook(context, { ...filled, notes }, language);
}

function listCells(
  { calendar }: Pick<Context, 'calendar'>,
  { mismatch, about, owner, platform, candidates, hash }: ShownCase,
  language: Language,
): Cell[] {
  const texts = textsOf(language);
  const { kind, severity, opened_at, age_days, day, at_stake, reference, id } = mismatch;
  const cells = new Map<string, Cell>(
    Object.entries({
      kind: { text: ALERT_TEXTS[language][kind as MismatchKind]?.title ?? kind },
      severity: { text: (texts.severities as Record<string, string>)[severity] ?? severity },
      opened: { moment: calendar.toWallTime(new Date(opened_at)) },
      age: { count: age_days },
      owner: { text: owner },
      stake: { cents: at_stake === null ? null : (parseSum(at_stake) ?? null) },
      about: { text: about },
      day: { day },
      platform: { text: platform },
      reference: { text: reference },
      expected: { text: describeSide(mismatch, 'expected', texts) },
      actual: { text: describeSide(mismatch, 'actual', texts) },
      candidates: { count: candidates.length },
      mismatch: { text: id },
      seen: { text: hash },
    }),
  );
  // the cells to be filled in are texts: a spreadsheet makes no date of a number such as 3-1
  return NAMES.map((name) => cells.get(name) ?? { text: null });
}

/** The decisions that a mismatch takes. */
function listDecisions({ mismatch, candidates }: ShownCase): DecisionName[] {
  const canAccept = isAcceptableKind(mismatch.kind) || surplusIn(mismatch) > 0;
  return [
    'resolve',
    ...(canAccept ? (['accept'] as const) : []),
    ...(candidates.length > 0 ? (['match'] as const) : []),
  ];
}

function limitDecisions(cases: readonly ShownCase[], language: Language): Validation[] {
  const lists = cases.map(
    (one) =>
      `"${listDecisions(one)
        .map((name) => DECISION_WORDS[name][language])
        .join(',')}"`,
  );
  const rows = Map.groupBy(lists.keys(), (index) => lists[index] ?? '');
  return [...rows].map(([list, indexes]) => ({
    list,
    range: indexes.map((index) => cellOf('decision', index)).join(' '),
  }));
}

function limitCandidates(cases: readonly ShownCase[], sheet: string): Validation[] {
  let next = FIRST_ROW;
  return cases.flatMap(({ candidates }, index) => {
    const [first, last] = [next, next + candidates.length - 1];
    next = last + 1;
    return last < first ? [] : [{ range: cellOf('which', index), list: referToCells(sheet, `B${first}:B${last}`) }];
  });
}

function limitNotes(cases: readonly ShownCase[]): Validation[] {
  const range = `${cellOf('note', 0)}:${cellOf('note', cases.length - 1)}`;
  return cases.length === 0 ? [] : [{ range, charsMax: NOTE_MAX }];
}

function cellOf(column: string, index: number): string {
  return `${columnName(NAMES.indexOf(column))}${FIRST_ROW + index}`;
}

function listCandidates(cases: readonly ShownCase[], language: Language) {
  const { candidates: title, amount } = WORDS[language];
  const titles = [...['mismatch', 'which'].map((name) => DECISIONS.columns[name]?.titles[language] ?? name), amount];
  const rows = cases.flatMap(({ mismatch, candidates }) =>
    candidates.map(({ name, cents }): Cell[] => [{ text: mismatch.id }, { text: name }, { cents }]),
  );
  const header = titles.map((text): Cell => ({ text, style: 'header' }));
  return { title, widths: [WIDTHS.mismatch, WIDTHS.which, WIDTHS.stake], rows: [header, ...rows] };
}

import { maskPlatform } from '../../domain/person/mask-person.ts';
import { fill } from '../../texts/fill.ts';
import { formatLocalCount } from '../../texts/reports/texts.ts';
import type { AnyPlan } from '../plan/report-plan.ts';
import type { SheetWriter } from '../xlsx/open-sheet.ts';
import { type Cell, columnName } from '../xlsx/render-cell.ts';
import { type Summary, startSection } from './start-section.ts';

export type Fact = [label: string, cell: Cell];

/** Writes the facts at the start of Resumo: the days, those of this kind of file, and those that every reader needs. */
export function writeAbout(
  sheet: SheetWriter,
  summary: Summary<AnyPlan>,
  columns: number,
  own: { span: Fact; facts: Fact[] },
): void {
  const { plan, texts } = summary;
  startSection(sheet, texts.summary.about, columns);
  const platform = plan.platform !== undefined && plan.masked ? maskPlatform(plan.platform) : plan.platform;
  const name = platform === undefined ? undefined : summary.platformNames.get(platform);
  const shown = [name, platform].filter((one) => one !== undefined).join(' · ');
  const filter: Fact[] = platform === undefined ? [] : [[texts.summary.platform, { text: shown }]];
  writeFacts(sheet, [own.span, ...filter, ...own.facts, ...listCommon(summary)], columns);
}

/** Writes the facts at the end of Resumo: what identifies the file and its content. */
export function writeIdentity(sheet: SheetWriter, { plan, texts, digest }: Summary<AnyPlan>, columns: number): void {
  const words = texts.summary;
  const { entrySeq, eventSeq, mismatchChangeSeq, position, sealHash } = plan.cut;
  startSection(sheet, words.identity, columns);
  const facts: Fact[] = [
    [words.zone, { text: plan.calendar.zone }],
    [words.cut, { text: `${entrySeq} · ${eventSeq} · ${mismatchChangeSeq}` }],
    [words.digest, { text: digest.toString('hex') }],
    [words.chain, { text: formatSeal(position, sealHash?.toString('hex')) ?? words.chainNone }],
    [words.version, { text: `Confere ${plan.version}` }],
  ];
  writeFacts(sheet, facts, columns);
}

function writeFacts(sheet: SheetWriter, facts: Fact[], columns: number): void {
  for (const [label, cell] of facts) {
    const row = sheet.nextRow();
    const blank = Array.from({ length: columns - 2 }, () => ({ text: null, style: styleOf(cell) }));
    sheet.addRow([{ text: label, style: 'label' }, cell, ...blank]);
    sheet.merge(`B${row}:${columnName(columns - 1)}${row}`);
  }
}

function listCommon({ plan, texts, tables }: Summary<AnyPlan>): Fact[] {
  const words = texts.summary;
  const split = tables.all.filter(([, table]) => table.sheets.length > 1);
  return [
    [words.madeAt, { moment: plan.calendar.toWallTime(plan.madeAt) }],
    [
      words.redacted,
      { text: plan.masked ? words.maskedText : plan.fullDocuments ? words.unredactedText : words.redactedText },
    ],
    ...(plan.isRedacted ? [['', { text: words.forgottenText, style: 'hint' }] satisfies Fact] : []),
    ...split.map(([name, table]): Fact => {
      const values = { sheet: name, count: table.sheets.length, max: formatLocalCount(plan.rowsPerSheetMax, texts) };
      return [words.parts, { text: fill(words.partsText, values) }];
    }),
  ];
}

/** `1204 · 5f0c…`: position and hash in hex of the chain at the report's cut; undefined for a cut from before there were seals. */
export function formatSeal(position: number | null, hash: string | null | undefined): string | undefined {
  return position === null || !hash ? undefined : `${position} · ${hash}`;
}

function styleOf(cell: Cell) {
  return cell && 'style' in cell && cell.style ? cell.style : 'text';
}

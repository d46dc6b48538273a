/** The filters, the sums and the files of the list of adjustments: who entered which, of which days, and why. */
import type { Request, Response } from 'express';
import { z } from 'zod';
import { audit } from '../../../access/audit.ts';
import { NOTE_CHARS_MAX } from '../../../access/check-note.ts';
import { labelActors } from '../../../access/label-actors.ts';
import type { Context } from '../../../context.ts';
import { PLATFORM_CHARS_MAX } from '../../../domain/platform.ts';
import { ADJUSTMENT_KINDS } from '../../../ledger/stated/adjust-books.ts';
import { sumAdjustments } from '../../../ledger/stated/list-adjustments.ts';
import { adjustments } from '../../../operations/books/adjustments.ts';
import { readList } from '../../../operations/define-list.ts';
import { FORMAT_FACTS } from '../../../reports/render/formats/formats.ts';
import { renderAdjustmentsCsv, writeAdjustmentsWorkbook } from '../../../reports/serve/export-adjustments.ts';
import { EXPORT_FORMATS, EXPORT_ROWS_MAX } from '../../../reports/serve/export-found.ts';
import { describeCode } from '../../../texts/fill.ts';
import { language } from '../../../texts/language.ts';
import { refuse } from '../../../texts/refuse.ts';
import { textsOf } from '../../../texts/reports/texts.ts';
import { wordsBy } from '../../../texts/translate.ts';
import { canSeePersonalData, getActor, getCaller } from '../../access/authorize.ts';
import { sendFile, signalOf } from '../../send-file.ts';
import { type Draft, dayField, filterField, inputField } from '../parts/fields.ts';
import { formatCount, money } from '../parts/format.ts';
import { type Html, html, tHtml } from '../parts/html.ts';
import { filterAmount, filterChoice, filterDay, filterText } from '../parts/parse-filters.ts';
import { readPlatformNames } from '../parts/read-platform-names.ts';
import { listFiles } from '../parts/send-list.ts';
import { ADJUSTMENT_WORDS } from '../parts/words.ts';

/** An id of a user or a token. */
const ACTOR_CHARS_MAX = 64;
const ACTORS_MAX = 1_000;

export const adjustmentQuery = z.object({
  platform: filterText(PLATFORM_CHARS_MAX),
  from: filterDay,
  to: filterDay,
  kind: filterChoice(ADJUSTMENT_KINDS),
  amount: filterAmount,
  amount_from: filterAmount,
  amount_to: filterAmount,
  inside: filterText(NOTE_CHARS_MAX),
  actor: filterText(ACTOR_CHARS_MAX),
});
type Filters = z.infer<typeof adjustmentQuery>;

/** Both names of a kind: `Saque / Depósito`. */
const KIND_WORDS = wordsBy(ADJUSTMENT_KINDS, (kind) =>
  [`${kind}_out`, `${kind}_in`].map((code) => describeCode(ADJUSTMENT_WORDS, code)).join(' / '),
);

/** The fields beside the platform; a viewer searches no note. */
export async function adjustmentFields({ db }: Context, response: Response, draft: Draft): Promise<Html[]> {
  const known = await db.selectFrom('adjustments').select('actor').distinct().limit(ACTORS_MAX).execute();
  const actors = known.map(({ actor }) => actor);
  const label = await labelFor(db, response, actors);
  return [
    dayField(draft, { name: 'from', label: 'De' }),
    dayField(draft, { name: 'to', label: 'Até' }),
    filterField(draft, { name: 'kind', label: 'Tipo', words: KIND_WORDS, any: 'Todos' }),
    inputField(draft, { name: 'amount', label: 'Valor' }),
    inputField(draft, { name: 'amount_from', label: 'Valor de' }),
    inputField(draft, { name: 'amount_to', label: 'Valor até' }),
    ...(canSeePersonalData(response)
      ? [inputField(draft, { name: 'inside', label: 'Por quê', hint: 'Um trecho dele.' })]
      : []),
    filterField(draft, {
      ...{ name: 'actor', label: 'Quem', any: 'Todos' },
      words: Object.fromEntries(actors.map((actor) => [actor, label(actor)])),
    }),
  ];
}

function labelFor(db: Context['db'], response: Response, actors: string[]) {
  const { roles } = textsOf(language());
  return labelActors(db, actors, { full: canSeePersonalData(response), roles });
}

/** The sums of all that the filters find, and its files. */
export async function adjustmentSums(
  { db }: Context,
  filters: Filters,
  addressOf: (format: string) => string,
): Promise<Html> {
  const { count, inCents, outCents } = await sumAdjustments(db, filters);
  return html`<p class="total">${tHtml(
    count === 1
      ? '<b>{n} ajuste</b>: entradas {in}, saídas {out}.'
      : '<b>{n} ajustes</b>, com os estornos: entradas {in}, saídas {out}.',
    { n: formatCount(count), in: html`<b>${money(inCents)}</b>`, out: html`<b>${money(outCents)}</b>` },
  )}</p>${count > 0 && listFiles(addressOf)}`;
}

/** Sends what the filters find as a file, masked for viewers. The download is audited. @throws ConfereError `not_found`. */
export async function sendAdjustments(
  context: Context,
  request: Request,
  response: Response,
  filter: Filters,
): Promise<void> {
  const format = EXPORT_FORMATS.find((one) => one === request.query.format);
  if (!format) throw refuse('export_unknown', { formats: EXPORT_FORMATS.join(' or ') });
  const page = { limit: EXPORT_ROWS_MAX, after: undefined };
  const by = { caller: getCaller(response), via: 'console' } as const;
  const { rows, next } = await readList(context, adjustments, { filter, page, ...by });
  const isCut = next !== undefined;
  const label = await labelFor(
    context.db,
    response,
    rows.map((row) => row.created_by),
  );
  const parts = ['confere-ajustes', context.calendar.dayOf(context.clock.now())];
  const limits = [isCut && `${EXPORT_ROWS_MAX}-mais-novos`, !canSeePersonalData(response) && 'masked'];
  const target = `${[...parts, ...limits].filter(Boolean).join('-')}.${format}`;
  const wanted = {
    rows: rows.map((row) => ({ ...row, by: label(row.created_by) })),
    ...{ isCut, platformNames: await readPlatformNames(context, response), signal: signalOf(response) },
  };
  const headers = {
    'content-disposition': `attachment; filename="${target}"`,
    'content-type': FORMAT_FACTS[format].contentType,
  };
  await audit(context, { actor: getActor(response), action: 'reports.download', target });
  if (format === 'csv') response.set(headers).send(renderAdjustmentsCsv(context, wanted));
  else await writeAdjustmentsWorkbook(context, wanted, (file) => sendFile(response, file, headers));
}

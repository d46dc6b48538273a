/** Explains which reading and reports a day before the books adds. */
import type { Context } from '../../../context.ts';
import { addDays, countDays, type Day } from '../../../domain/calendar.ts';
import { readUnproven } from '../../../reconciliation/numbers/read-coverage.ts';
import { findFirstDay } from '../../../seal/find-first-day.ts';
import { plural } from '../../../texts/translate.ts';
import { formatDay } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';

/** An adjustment before every entry: the days from there on have a balance, and so a report to make. */
export async function explainEarlyAdjustment({ db }: Context, day: Day): Promise<Html | undefined> {
  const first = await findFirstDay(db);
  if (first === undefined || day >= first) return undefined;
  return html`<p class="explain bad">${plural(
    countDays(day, addDays(first, -1)),
    'Este dia vem antes dos livros, que começam em {first}: {n} dia a mais passa a ter um relatório por fazer. Se o dinheiro já estava na conta, informe um saldo inicial.',
    'Este dia vem antes dos livros, que começam em {first}: {n} dias a mais passam a ter um relatório por fazer. Se o dinheiro já estava na conta, informe um saldo inicial.',
    { first: formatDay(first) },
  )}</p>`;
}

/** An opening whose books need days that are not proven: its run reads them, and the verdict waits for all of them. */
export async function explainEarlyOpening(context: Context, day: Day): Promise<Html | undefined> {
  const { count, from } = await readUnproven(context, day);
  if (count === 0) return undefined;
  return html`<p class="explain open">${plural(
    count,
    'Desde {day}, {n} dia terminado está sem prova. Ao confirmar, uma conferência começa 96 dias antes dos livros e o lê; até lá o veredito e o fechamento do mês esperam.',
    'Desde {day}, {n} dias terminados estão sem prova. Ao confirmar, uma conferência começa 96 dias antes dos livros e os lê; até lá o veredito e o fechamento do mês esperam.',
    { day: formatDay(from) },
  )}</p>`;
}

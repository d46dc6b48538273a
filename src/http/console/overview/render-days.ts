/** Renders the last days of the overview: what moved, and whether each day is proven. */
import { addDays, countDays, type Day } from '../../../domain/calendar.ts';
import type { MoneyPoint } from '../../../ledger/read/read-money-series.ts';
import { t } from '../../../texts/translate.ts';
import { placeMoney, renderMoved } from '../charts/render-money.ts';
import { formatCount, formatDay } from '../parts/format.ts';
import { type Html, html, tHtml } from '../parts/html.ts';
import type { VerdictFacts } from './decide-verdict.ts';
import { type DayProof, describeProof } from './read-overview.ts';

/** Counts the days of the verdict that are proven. */
export function renderCoverage({ today, booksFrom: from, unproven: { count, oldest } }: VerdictFacts): Html {
  const to = addDays(today, -1);
  const days = countDays(from, to);
  if (days === 0) return html``;
  const ageDays = oldest === undefined ? 0 : countDays(oldest, to);
  const since =
    oldest !== undefined &&
    tHtml(
      ageDays === 1
        ? 'O mais antigo destes sem prova é <b>{day}</b>, há {n} dia.'
        : 'O mais antigo destes sem prova é <b>{day}</b>, há {n} dias.',
      { day: formatDay(oldest), n: formatCount(ageDays) },
    );
  const read = tHtml(
    days === 1
      ? '<b>{proven} de {total}</b> dia terminado desde {from} lido ou contado por inteiro depois do seu fim.'
      : '<b>{proven} de {total}</b> dias terminados desde {from} lidos ou contados por inteiro depois do seu fim.',
    { proven: formatCount(days - count), total: formatCount(days), from: formatDay(from) },
  );
  return html`<p class="hint">${read} ${since}</p>`;
}

/** Receipts and payments, and under each day whether a run has proven it. */
export function renderDays(days: MoneyPoint[], proofs: DayProof[], today: Day): Html {
  const known = new Map(proofs.map((proof) => [proof.day, proof]));
  const points = placeMoney(days, today).map((point) => {
    const proof = known.get(point.span);
    const text = proof ? describeProof(proof) : '';
    return { ...point, mark: { name: proof?.proven ? ('proven' as const) : ('open' as const), text } };
  });
  return renderMoved(points, {
    slotTitle: 'Dia',
    marks: { proven: t('provado'), open: t('ainda não provado') },
    columns: [{ title: 'Prova', cell: ({ mark }) => mark.text }],
  });
}

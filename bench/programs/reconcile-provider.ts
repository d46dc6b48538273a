/**
 * A provider that is never the bottleneck: a process of its own that generates each page on request. Its list takes dates
 * (both inclusive), a status and a page. `node reconcile-provider.ts <days> <rows a day>`; it sends its port to the parent,
 * and receives `{delayMs}`.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { addDays, listDays } from '../../src/domain/calendar.ts';

const PAGE_ROWS = 100;
const STATUSES = ['paid', 'expired', 'denied', 'canceled', 'refund'] as const;
/** Number of rows of these statuses in each hundred; the others are paid. */
const SHARES = { expired: 10, denied: 2, canceled: 2, refund: 1 } as const;

const [firstDay = '2026-01-01', days = '1', perDay = '1'] = process.argv.slice(2);
const lastDay = addDays(firstDay, Number(days) - 1);
let delayMs = 0;

function statusOf(row: number): (typeof STATUSES)[number] {
  const place = row % 100;
  let from = 0;
  for (const status of ['expired', 'denied', 'canceled', 'refund'] as const) {
    from += SHARES[status];
    if (place < from) return status;
  }
  return 'paid';
}

const rowsByStatus = new Map<string | null, number[]>([
  [null, Array.from({ length: Number(perDay) }, (_, row) => row)],
]);
for (const status of STATUSES)
  rowsByStatus.set(
    status,
    (rowsByStatus.get(null) ?? []).filter((row) => statusOf(row) === status),
  );

function render(day: string, row: number): string {
  const status = statusOf(row);
  const number = `${day.replaceAll('-', '')}${String(row).padStart(8, '0')}`;
  const time = new Date(row * 16_000 * (5_000 / Number(perDay))).toISOString().slice(11, 19);
  const at = `${day} ${time}`;
  const paid = `{"date_created":"${at}","status":"paid"},`;
  const newest = status === 'refund' ? `{"date_created":"${day} 23:59:59","status":"refund"},${paid}` : '';
  const events = status === 'paid' ? paid : newest || `{"date_created":"${at}","status":"${status}"},`;
  return `{"id":"${number.slice(0, 8)}-0000-4000-8000-0000${number.slice(8)}","operation":"cashin","status":"${status}","amount":"${10 + (row % 90)}.50","commission":"0.10","date_created":"${at}","finished":"","name":"Conceição Figueirôa","email":"c@exemplo.com.br","phone":"+5511987654321","document":"52998224725","description":"Pedido ${row}","platform":"6f9619ff-8b86-4d01-b42d-00cf4fc964ff","reference":"ord-${number}","extra":"","payment_link":"https://checkout.example/${number}","qr_code":"00020126580014br.gov.bcb.pix","events":[${events}{"date_created":"${at}","status":"pending"}]}`;
}

function answer(query: URLSearchParams): string {
  const [from, to] = [query.get('initial_date') ?? firstDay, query.get('final_date') ?? lastDay];
  const within = listDays(firstDay, lastDay).filter((day) => day >= from && day <= to);
  const ofDay = rowsByStatus.get(query.get('status')) ?? [];
  const total = within.length * ofDay.length;
  const pages = Math.max(1, Math.ceil(total / PAGE_ROWS));
  const page = Number(query.get('page') ?? 1);
  const rows: string[] = [];
  for (let at = (page - 1) * PAGE_ROWS; at < Math.min(total, page * PAGE_ROWS); at++)
    rows.push(render(within[Math.floor(at / ofDay.length)] ?? '', ofDay[at % ofDay.length] ?? 0));
  const next = page < pages ? `"/v1/transactions?page=${page + 1}"` : 'false';
  return `{"transactions":[${rows.join()}],"total":${total},"current_page":${page},"last_page":${pages},"next_page_url":${next}}`;
}

const server = createServer((request, response) => {
  const send = (): void => {
    const body = answer(new URL(request.url ?? '/', 'http://provider').searchParams);
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  };
  if (delayMs > 0) setTimeout(send, delayMs);
  else send();
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('message', (message: { delayMs: number }) => {
  delayMs = message.delayMs;
  process.send?.({});
});
process.on('disconnect', () => process.exit(0));

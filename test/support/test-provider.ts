/**
 * A provider in memory over real HTTP: the four endpoints of its specification. It behaves well unless a switch changes that.
 * Each behaviour that the specification calls "not shown" is a switch.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { makeRow, type ProviderRow, wallAgo } from './make-provider-rows.ts';

export const PROVIDER_KEY = 'pk_quirky_0123456789abcdef';
export type SeenRequest = {
  kind: 'list' | 'show' | 'create' | 'other';
  method: string;
  path: string;
  page: number;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  /** The raw body. */
  text: string;
  at: number;
  /** Number of requests of this kind, including this one. */
  nth: number;
};

/** A fault that replaces the answer to a request. */
export type Fault =
  | { status: number; body?: unknown; headers?: Record<string, string> }
  | { text: string; status?: number }
  | { cut: 'before' | 'within' }
  /** `once: 'done'`: the request is executed, and only its answer is missing. */
  | { hang: true; once?: 'done' }
  | { drip: string; everyMs: number };

export type Switches = {
  sort: 'newest' | 'oldest' | 'touched' | 'random';
  fromBound: 'inclusive' | 'exclusive';
  toBound: 'inclusive' | 'exclusive';
  pageSize: number;
  total: (rows: number) => unknown;
  lastPage: (pages: number) => unknown;
  next: string | undefined;
  pastEnd: 'empty' | 'last' | 404 | 422;
  ignoresPage: boolean;
  ignoresStatus: boolean;
  showsObject: boolean;
  /** Called before a request is answered; it may change the rows. */
  beforeResponse: (seen: SeenRequest) => void | Promise<void>;
  fault: (seen: SeenRequest) => Fault | undefined;
};

const DEFAULTS: Switches = {
  sort: 'newest',
  fromBound: 'inclusive',
  toBound: 'inclusive',
  pageSize: 100,
  total: (rows) => rows,
  lastPage: (pages) => pages,
  next: undefined,
  pastEnd: 'empty',
  ignoresPage: false,
  ignoresStatus: false,
  showsObject: false,
  beforeResponse: () => undefined,
  fault: () => undefined,
};

export class TestProvider {
  url = '';
  rows = new Map<string, ProviderRow>();
  /** Ids that are found by id but missing in the list. */
  unlisted = new Set<string>();
  /** Fields shown instead of those of a row; undefined removes a field. */
  patches = new Map<string, Record<string, unknown>>();
  requests: SeenRequest[] = [];
  switches: Switches = { ...DEFAULTS };
  private readonly key: string;
  private touches = new Map<string, number>();
  private touchedLast = 0;
  private server = createServer((request, response) => {
    this.answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });

  constructor(key = PROVIDER_KEY) {
    this.key = key;
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    const address = this.server.address();
    this.url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
    return this;
  }

  /** Closes all connections: requests that hang fail. */
  cut(): void {
    this.server.closeAllConnections();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  add(...rows: ProviderRow[]): void {
    for (const row of rows) {
      this.rows.set(row.id, row);
      const touched = Date.parse(`${row.date_created.replace(' ', 'T')}Z`);
      this.touches.set(row.id, touched);
      this.touchedLast = Math.max(this.touchedLast, touched);
    }
  }

  /** Adds a transaction, or replaces it by a later state. */
  put<T extends { id: string; date_created: string }>(row: T): T {
    // cast: the provider may omit fields that makeRow always sets
    this.add(row as unknown as ProviderRow);
    return row;
  }

  /** Shows any value under an id. */
  putRaw(id: string, raw: unknown): void {
    this.rows.set(id, raw as ProviderRow);
  }

  /** Number of requests for a transaction by its id. */
  countShows(id: string): number {
    return this.requests.filter((one) => one.path.endsWith(`/${encodeURIComponent(id)}`)).length;
  }

  /** Adds an event to a row's history; the row becomes the one touched last. */
  addEvent(id: string, status: string, at = wallAgo(0)): void {
    const row = this.row(id);
    row.status = status;
    row.events.unshift({ status, date_created: at });
    this.touches.set(id, ++this.touchedLast);
  }

  /** Resets the switches, the requests and the patches; the rows stay. */
  reset(): void {
    this.switches = { ...DEFAULTS };
    this.requests = [];
    this.patches.clear();
    this.unlisted.clear();
  }

  row(id: string): ProviderRow {
    const row = this.rows.get(id);
    if (!row) throw new Error(`the provider has no ${id}`);
    return row;
  }

  count(kind: SeenRequest['kind']): number {
    return this.requests.filter((one) => one.kind === kind).length;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const seen = this.note(request);
    for await (const chunk of request) seen.text += chunk;
    const { text } = seen;
    await this.switches.beforeResponse(seen);
    const fault = this.switches.fault(seen);
    if (fault && 'once' in fault && seen.kind === 'create') this.create(seen.path, JSON.parse(text));
    if (fault) return commit(request, response, fault);
    if (request.headers.authorization !== `Bearer ${this.key}`)
      return send(response, 401, { message: 'Unauthenticated.' });
    if (seen.kind === 'list') return this.answerList(response, seen);
    if (seen.kind === 'show') return this.answerShow(response, seen.path.split('/').at(-1) ?? '');
    if (seen.kind === 'create') return send(response, 200, { transaction: [this.create(seen.path, JSON.parse(text))] });
    send(response, 404, { message: 'Not found.' });
  }

  private note(request: IncomingMessage): SeenRequest {
    const url = new URL(request.url ?? '/', 'http://provider');
    const path = url.pathname;
    const isShow = /^\/api\/v1\/transaction\/[^/]+$/.test(path);
    const isCreate = request.method === 'POST' && path.startsWith('/api/v1/transaction/pix/');
    const kind = path === '/api/v1/transactions' ? 'list' : isCreate ? 'create' : isShow ? 'show' : 'other';
    const page = Number(url.searchParams.get('page') ?? 1);
    const nth = this.count(kind) + 1;
    const { method = '', headers } = request;
    const seen: SeenRequest = {
      kind,
      method,
      path,
      page,
      query: url.searchParams,
      headers,
      text: '',
      at: Date.now(),
      nth,
    };
    this.requests.push(seen);
    return seen;
  }

  private answerShow(response: ServerResponse, id: string): void {
    const row = this.rows.get(decodeURIComponent(id));
    if (row) send(response, 200, { transaction: this.switches.showsObject ? this.view(row) : [this.view(row)] });
    else send(response, 404, { message: 'Not found.' });
  }

  private create(path: string, asked: Record<string, unknown>): ProviderRow {
    const operation = path.endsWith('cashout') ? 'cashout' : 'cashin';
    const { key_type: _, amount, ...fields } = asked;
    const row = makeRow({ ...fields, operation, amount: Number(amount).toFixed(2) });
    this.add(row);
    return row;
  }

  private answerList(response: ServerResponse, { query, page }: SeenRequest): void {
    const { pageSize, pastEnd: beyond, ignoresPage, total, lastPage, next } = this.switches;
    const rows = this.select(query);
    const pages = Math.max(1, Math.ceil(rows.length / pageSize));
    if (page > pages && typeof beyond === 'number') {
      send(response, beyond, { message: 'No such page.' });
      return;
    }
    const shown = ignoresPage ? 1 : page > pages && beyond === 'last' ? pages : page;
    const following = `${next ?? this.url}/v1/transactions?page=${shown + 1}`;
    send(response, 200, {
      transactions: rows.slice((shown - 1) * pageSize, shown * pageSize).map((row) => this.view(row)),
      total: total(rows.length),
      current_page: shown,
      last_page: lastPage(pages),
      next_page_url: shown < pages ? following : false,
    });
  }

  private select(query: URLSearchParams): ProviderRow[] {
    const { fromBound: low, toBound: high, sort } = this.switches;
    const [from, to] = [query.get('initial_date'), query.get('final_date')];
    const fits = (row: ProviderRow): boolean => {
      const day = row.date_created.slice(0, 10);
      if (from && (low === 'inclusive' ? day < from : day <= from)) return false;
      if (to && (high === 'inclusive' ? day > to : day >= to)) return false;
      const filters = ['reference', 'platform', ...(this.switches.ignoresStatus ? [] : ['status'])];
      return filters.every((name) => !query.get(name) || row[name] === query.get(name));
    };
    const rows = [...this.rows.values()].filter((row) => !this.unlisted.has(row.id) && fits(row));
    if (sort === 'random')
      return rows
        .map((row) => ({ row, at: Math.random() }))
        .sort((a, b) => a.at - b.at)
        .map((one) => one.row);
    const touched = (row: ProviderRow): number => this.touches.get(row.id) ?? 0;
    if (sort === 'touched') return rows.sort((a, b) => touched(b) - touched(a) || (a.id < b.id ? -1 : 1));
    // each page sorts all rows, so keys are computed once per row
    const sorted = rows
      .map((row) => ({ row, key: row.date_created + row.id }))
      .sort((a, b) => (a.key < b.key ? -1 : 1));
    return (sort === 'newest' ? sorted.reverse() : sorted).map((one) => one.row);
  }

  private view(row: ProviderRow): Record<string, unknown> {
    return { ...row, ...this.patches.get(row.id) };
  }
}

function send(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

function commit(request: IncomingMessage, response: ServerResponse, fault: Fault): void {
  if ('hang' in fault) return;
  if ('cut' in fault) {
    if (fault.cut === 'within') response.writeHead(200, { 'content-length': '500' }).write('{"transactions":[');
    setTimeout(() => request.socket.destroy(), fault.cut === 'within' ? 20 : 0);
  } else if ('drip' in fault) {
    const bytes = [...fault.drip];
    response.writeHead(200, { 'content-type': 'application/json' });
    const timer = setInterval(() => (bytes.length > 0 ? response.write(bytes.shift()) : response.end()), fault.everyMs);
    response.once('close', () => clearInterval(timer));
  } else if ('text' in fault) response.writeHead(fault.status ?? 200).end(fault.text);
  else send(response, fault.status, fault.body ?? { message: 'Server Error' }, fault.headers);
}

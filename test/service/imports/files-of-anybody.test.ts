/** Files as banks and Excel write them, by command, API and console: no row is left out in silence. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { listBankLines } from '../../../src/ledger/bank/list-bank-lines.ts';
import { callApi } from '../../support/call-api.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { openConsoleSession } from '../../support/open-console-session.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { SECRET_KEY, temporaryDirectory } from '../../support/start-serve.ts';

const HEADER = 'conta;dia;valor;texto;número do documento';
const ROWS = `341/1234/56789-0;20/11/2026;2500,00;TED RECEBIDA PROVEDOR PIX;000045107
341/1234/56789-0;20/11/2026;-49,90;TARIFA MENSALIDADE;000000000`;
const WITH_PREAMBLE = `Extrato de conta corrente;;;;
Agência 1234 Conta 56789-0;;;;
;;;;
${HEADER}
${ROWS}
;;2450,10;TOTAL;
`;
const LEFT_OUT = [
  { row: 1, why: 'above_header' },
  { row: 2, why: 'above_header' },
  { row: 7, why: 'total' },
];

const home = closeAfterAll(temporaryDirectory());
const env = closeAfterAll(await openConsoleEnvironment({ SECRET_KEY }));

const post = (query: string, body: string | Buffer) =>
  callApi({ url: `${env.url}/api/v1/imports/bank`, token: env.tokens.accountant }, 'POST', query, body);

async function run(text: string, ...options: string[]) {
  const file = path.join(home.path, 'file.csv');
  writeFileSync(file, text);
  const variables = { DATABASE_URL: env.context.config.DATABASE_URL ?? '', SECRET_KEY, DATA_DIR: env.dataDir };
  return await runCommandInProcess(['import', 'bank', file, ...options], variables);
}

test('rows that are left out of a file are named by the command, the API, the console and the audit', async () => {
  const dry = await run(WITH_PREAMBLE, '--dry-run');
  expect([dry.code, dry.out]).toEqual([0, expect.stringContaining('it would import 2 rows')]);
  expect(dry.out).toContain('row 1 stands above the header: it is left out');
  expect(dry.out).toContain('row 7 is the total: it is left out');
  const session = await openConsoleSession(env, 'accountant');
  const file = Buffer.from(WITH_PREAMBLE).toString('base64');
  const preview = await session.post('/balances/imports', { kind: 'bank', file });
  expect([preview.status, preview.text]).toEqual([
    200,
    expect.stringContaining('1 (acima do cabeçalho), 2 (acima do cabeçalho), 7 (o total)'),
  ]);
  const made = await post('', WITH_PREAMBLE);
  expect(made).toMatchObject({ status: 201, json: { rows: 2, changed: 2, left_out: LEFT_OUT } });
  const audited = await env.context.db
    .selectFrom('audit')
    .select('detail')
    .where('action', '=', 'imports.create')
    .orderBy('seq', 'desc')
    .executeTakeFirst();
  expect(JSON.parse(audited?.detail ?? '')).toMatchObject({ rows: 2, left_out: 3 });
  // the same lines, in the form that Excel writes with its separator, are stored already
  const declared = await post('', `sep=;\n${HEADER}\n${ROWS}\n`);
  expect(declared).toMatchObject({ status: 201, json: { rows: 2, changed: 0, left_out: [] } });
});

test('a file with a number in scientific notation, or an amount that may be two, imports nothing and names each row', async () => {
  const before = await listBankLines(env.context.db, 10, undefined);
  const rows = [
    '341/1234/56789-0;20/11/2026;2500,00;TED;4,51070E+11',
    '341/1234/56789-0;20/11/2026;1.500;TED;2',
    '341/1234/56789-0;20/11/2026;-49,90 C;TED;3',
    '341/1234/56789-0;20/11/2026;49,90 D;TARIFA;4',
  ];
  const { status, json } = await post('', Buffer.from(`${HEADER}\r\n${rows.join('\r\n')}`, 'latin1'));
  expect([status, Object.keys(json.errors as object)]).toEqual([
    422,
    ['row 2, número do documento', 'row 3, valor', 'row 4, valor'],
  ]);
  expect(await listBankLines(env.context.db, 10, undefined)).toEqual(before);
});

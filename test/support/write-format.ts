/** Writes files for other programs without a database: movements whose texts are given. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { nameAccount } from '../../src/ledger/journal/plan-entries.ts';
import type { MappedAccount } from '../../src/ledger/stated/check-accounts.ts';
import type { Movement } from '../../src/reports/read/read-movements.ts';
import { CALIMA, CONTA_AZUL, GENERIC, type Layout } from '../../src/reports/render/formats/layouts.ts';
import { openMapped } from '../../src/reports/render/formats/open-lancamentos.ts';
import { openOfx } from '../../src/reports/render/formats/open-ofx.ts';
import type { FormatWork, Output } from '../../src/reports/render/formats/output.ts';
import { openCsv } from '../../src/reports/render/formats/write-csv.ts';
import { continueJournal, openJournal } from '../../src/reports/render/formats/write-journal.ts';
import { textsOf } from '../../src/texts/reports/texts.ts';

const CENTS = 1_234n;
const DAY = '2026-11-20';
const account = (name: string, index: number): MappedAccount => ({
  ...{ account: name, platform: null, code: `${index}.1`, category: 'Vendas', history: '7', cost_center: null },
});
const ACCOUNTS = ['Assets:Provider:Available', 'Income:Receipts'].map(account);
const listPostings = (platform: string) => [
  { account: nameAccount('Assets:Provider:Available', platform), cents: CENTS },
  { account: nameAccount('Income:Receipts', platform), cents: -CENTS },
];

let files = 0;

/** Writes a movement for each text, which is its reference, name, status and id. `change` gives it other facts. */
export async function writeFormat(
  home: string,
  texts: readonly string[],
  open: OpenFormat,
  change: (text: string) => { platform?: string; adjustment?: Movement['adjustment'] } = () => ({}),
): Promise<{ file: string; bytes: Buffer; cents: bigint }> {
  const rendering = {
    texts: textsOf('pt-BR'),
    fullDocuments: true,
    toWall: () => `${DAY} 10:00:00`,
    platformNames: new Map(),
  };
  const work = {
    rendering,
    ...{ plan: { day: DAY, masked: false, madeAt: new Date(0), locale: 'pt-BR', revision: 1, cut: { entrySeq: 1 } } },
    ...{ signal: new AbortController().signal, balances: [], tally: { platforms: new Map() } },
    factory: { scratch: () => ({ file: path.join(home, `scratch-${files++}`) }) },
  } as unknown as FormatWork;
  const file = path.join(home, `file-${files++}`);
  const output = await open(work, file);
  for (const [index, one] of texts.entries()) {
    const { platform = 'p', adjustment = null } = change(one);
    const movement = {
      ...{ kind: 'receipt', amountCents: CENTS, commissionCents: 0n, netCents: CENTS, heldCents: 0n },
      ...{
        atWall: `${DAY} 10:00:00`,
        isReversal: false,
        inForce: true,
        entrySeq: index + 1,
        ...{ eventSeq: 1, platform, adjustment },
      },
      ...{ transactionId: one, status: one, createdWall: null, reference: one, extra: one, e2eId: null, name: one },
      ...{
        document: one,
        forgotten: false,
        recordedAt: new Date(0),
        source: 'webhook',
        postings: listPostings(platform),
      },
    };
    output.add({ movement, platformBalanceCents: 0n, balanceCents: 0n } as unknown as Parameters<Output['add']>[0]);
    if (index % 500 === 0) await output.drain();
  }
  output.endDay?.(DAY);
  await output.end();
  return { file, bytes: readFileSync(file), cents: CENTS * BigInt(texts.length) };
}

type OpenFormat = (work: FormatWork, file: string) => Promise<Output>;

const lancamentos =
  (layout: Layout): OpenFormat =>
  (work, file) =>
    openMapped(work, file, { layout, accounts: ACCOUNTS });
export const OPENERS = {
  csv: openCsv,
  generic: lancamentos(GENERIC),
  calima: lancamentos(CALIMA),
  'conta-azul': lancamentos(CONTA_AZUL),
  ofx: openOfx,
  journal: openJournal,
  'journal-continued': continueJournal,
} as const satisfies Record<string, OpenFormat>;

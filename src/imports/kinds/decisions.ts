import { NOTE_CHARS_MAX } from '../../access/check-note.ts';
import type { Context } from '../../context.ts';
import { transact } from '../../database/transact.ts';
import { ConfereError } from '../../domain/errors.ts';
import { lockExpected } from '../../expected/follow/lock-expected.ts';
import { loadStoredTransactions } from '../../ledger/apply/load-stored-transactions.ts';
import { refuse } from '../../texts/refuse.ts';
import { choiceColumn, shownColumn, textColumn } from '../columns.ts';
import { type DecisionName, decideCase, type GivenDecision } from '../decisions/decide-case.ts';
import { type Case, readCases } from '../decisions/read-cases.ts';
import { defineTable } from '../define-table.ts';
import { type DecidedRow, type ImportedRow, type ImportFault, listRepeated } from '../import-kind.ts';
import { TABLE_LIMITS } from '../read-table.ts';

/** Rows of a file, and of the workbook that is made for it. */
export const DECISIONS_MAX = 500;
const ID_CHARS_MAX = 64;
/** A source, a number, and a slash between them. */
const WHICH_CHARS_MAX = 170;

/** The shorter limit, a match's, holds for each decision. */
export const NOTE_MAX = NOTE_CHARS_MAX;
export const DECISION_WORDS = {
  resolve: { 'pt-BR': 'resolver', en: 'resolve' },
  accept: { 'pt-BR': 'aceitar', en: 'accept' },
  match: { 'pt-BR': 'casar', en: 'match' },
} as const;

const shown = (pt: string, en: string) => shownColumn({ titles: { 'pt-BR': pt, en }, example: '' });

/** Decisions about mismatches, in the workbook that shows those to be decided. A row without a decision stays as it is. */
export const DECISIONS = defineTable({
  titles: { 'pt-BR': 'Decisões sobre divergências', en: 'Decisions about mismatches' },
  roles: ['operator'],
  limits: { ...TABLE_LIMITS, rowsMax: DECISIONS_MAX },
  columns: {
    kind: shown('tipo', 'type'),
    severity: shown('gravidade', 'severity'),
    opened: shown('aberta em', 'opened at'),
    age: shown('dias em aberto', 'days open'),
    owner: shown('quem decide', 'owner'),
    stake: shown('em jogo', 'at stake'),
    about: shown('sobre', 'about'),
    day: shown('dia', 'day'),
    platform: shown('plataforma', 'platform'),
    reference: shown('referência', 'reference'),
    expected: shown('esperado', 'expected'),
    actual: shown('encontrado', 'found'),
    candidates: shown('candidatos', 'candidates'),
    decision: choiceColumn({
      titles: { 'pt-BR': 'decisão', en: 'decision' },
      words: DECISION_WORDS,
      example: 'resolver',
    }),
    which: textColumn({
      titles: { 'pt-BR': 'com qual', en: 'with which' },
      charsMax: WHICH_CHARS_MAX,
      example: 'loja/pedido-1024',
    }),
    note: textColumn({
      titles: { 'pt-BR': 'observação', en: 'note' },
      charsMax: NOTE_MAX,
      example: 'o cliente confirmou por telefone',
    }),
    mismatch: textColumn({
      titles: { 'pt-BR': 'divergência', en: 'mismatch' },
      isRequired: true,
      charsMax: ID_CHARS_MAX,
      example: 'mm_0123456789abcdef0123456789abcdef',
    }),
    seen: textColumn({
      titles: { 'pt-BR': 'evidência', en: 'evidence' },
      isRequired: true,
      charsMax: ID_CHARS_MAX,
      example: '0123456789abcdef0123456789abcdef',
    }),
  },
  toValue({ decision, which, note, mismatch, seen }) {
    if (decision === null && (which ?? note) === null) return undefined;
    if (decision === null) return { fault: { column: 'decision', kind: 'missing' } };
    if ((decision === 'match') !== (which !== null))
      return { fault: { column: 'which', kind: decision === 'match' ? 'missing' : 'which_without_match' } };
    // required ones have a value
    return { value: { id: mismatch ?? '', seen: seen ?? '', decision, which: which ?? '', note } };
  },
  async apply(inner, rows: ImportedRow<GivenDecision>[], { actor, sha256 }) {
    const repeated = listRepeated(
      rows,
      ({ id }) => id,
      ({ number: row }) => ({
        ...{ row, column: 'mismatch', kind: 'number_repeated' },
      }),
    );
    if (repeated.length > 0) return { changed: 0, faults: repeated };
    const cases = await lockCases(inner, rows);
    const [decisions, faults]: [DecidedRow[], ImportFault[]] = [[], []];
    for (const { number: row, value } of rows) {
      const { id: mismatch_id, decision } = value;
      const detail = JSON.stringify({ import: sha256.toString('hex'), row });
      try {
        const found = cases.get(mismatch_id);
        if (!found) throw refuse('mismatch_unknown');
        const done = await decideCase(inner, found, value, { actor, detail });
        if ('fault' in done) faults.push({ row, ...done.fault });
        else decisions.push({ row, mismatch_id, kind: found.mismatch.kind, decision, ...done });
      } catch (error) {
        if (!(error instanceof ConfereError) || !REFUSING.has(error.code)) throw error;
        const field = Object.keys(error.fields ?? {})[0] ?? '';
        faults.push({ row, column: COLUMN_OF.get(field) ?? 'mismatch', kind: 'refused', error });
      }
    }
    return { changed: decisions.filter(({ changed }) => changed).length, faults, decisions };
  },
  finish: async ({ wakeUps }) => wakeUps.alerts.notify(),
});

const REFUSING = new Set(['invalid_request', 'conflict', 'not_found']);
/** The column for a field that a change names. */
const COLUMN_OF = new Map([
  ['note', 'note'],
  ['transaction_id', 'which'],
  ['amount', 'which'],
]);

/**
 * Locks what the decisions are about, and reads it: expected payments, then transactions, then mismatches, each in the order of
 * their row numbers, as the follower and appliers lock them.
 */
async function lockCases(inner: Context, rows: ImportedRow<GivenDecision>[]): Promise<Map<string, Case>> {
  const ids = rows.map(({ value }) => value.id);
  return await transact(inner.db, async (trx) => {
    const named = await readCases(inner, ids);
    const listOf = (decision: DecisionName, list: (found: Case, given: GivenDecision) => string | string[] | null) =>
      rows.flatMap(({ value }) => {
        const found = value.decision === decision ? named.get(value.id) : undefined;
        return (found && list(found, value)) ?? [];
      });
    const orders = listOf('match', ({ mismatch, candidates }, { which }) => {
      const chosen = candidates.filter(({ names }) => names.includes(which)).map(({ id }) => id);
      return mismatch.expected_payment_id ?? chosen;
    });
    const heads = trx.selectFrom('expected_payments').select('seq').where('id', 'in', orders);
    const seqs = orders.length === 0 ? [] : (await heads.execute()).map(({ seq }) => seq);
    await lockExpected(trx, seqs);
    const accepted = listOf('accept', ({ mismatch }) => mismatch.transaction_id);
    if (accepted.length > 0) await loadStoredTransactions(trx, accepted);
    await trx.selectFrom('mismatches').select('seq').where('id', 'in', ids).orderBy('seq').forUpdate().execute();
    return await readCases(inner, ids);
  });
}

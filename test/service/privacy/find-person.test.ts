import { describe, expect, it } from 'vitest';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { findPerson, NO_PERSON_VALUES } from '../../../src/privacy/find-person.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { makeShownTransaction, observeNow } from '../../support/read-ledger-state.ts';

const CPF = '31415926535';
const CNPJ = '12ABC34501DE35';
/** How a merchant or the provider may write a document into an extra. */
const SPELLINGS = [
  (of: Written) => of.plain,
  (of: Written) => of.dotted,
  (of: Written) => `cliente ${of.dotted}, mesa 4`,
  (of: Written) => of.plain.toLowerCase(),
  (of: Written) => of.dotted.toLowerCase(),
  (of: Written) => of.dotted.replaceAll(/[./-]/g, ' '),
  (of: Written) => of.dotted.replaceAll(/[./-]/g, '–'),
  (of: Written) => `{"doc":"${of.dotted.replaceAll('/', '\\/')}"}`,
  (of: Written) => JSON.stringify({ doc: of.dotted }).replaceAll('-', '\\u002d'),
  (of: Written) => `{"doc":"${escapeAll(of.plain)}"}`,
  (of: Written) => JSON.stringify({ inner: `{"doc":"${escapeAll(of.plain)}"}` }),
  (of: Written) => `pedido=1&doc=${encodeAll(of.dotted)}`,
  (of: Written) => `https://x/?next=${encodeURIComponent(`https://y/?doc=${encodeAll(of.dotted)}`)}`,
  (of: Written) => `doc=${Array.from(of.plain, (one) => `%${one.charCodeAt(0).toString(16)}`).join('')}`,
  (of: Written) => of.plain.replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
];
type Written = { plain: string; dotted: string };

function escapeAll(text: string): string {
  return Array.from(text, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
}

/** Punctuation in its escapes of an address, in small letters as some programs write them. */
function encodeAll(text: string): string {
  return text.replaceAll(/[./-]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
}

const environment = closeAfterAll(await openEnvironment());

describe.each([
  { plain: CPF, dotted: '314.159.265-35', near: '31415926536' },
  { plain: CNPJ, dotted: '12.ABC.345/01DE-35', near: '12ABC34501DE36' },
])('finding everything of $plain', ({ near, ...written }) => {
  it('reads the document in an extra however it is written, of another’s transaction and of nobody’s', async () => {
    const of = (extra: string, document = '') => makeShownTransaction(['paid'], { extra, document, name: 'Rui' });
    // also within a longer number
    const extras = [...SPELLINGS.map((spell) => spell(written)), `${written.plain}1`, `9${written.plain}`];
    const others = extras.map((extra) => of(extra, '11144477735'));
    const nobodys = extras.map((extra) => of(extra));
    const keyed = makeShownTransaction(['paid'], { pix_key: written.dotted.toLowerCase() });
    // in its digits' order with others between, behind and before, and another document written the same ways
    const strangers = [
      ...SPELLINGS.map((spell) => spell({ plain: near, dotted: written.dotted.replace(/5$/, '6') })),
      [...written.plain].join('00'),
      '%3Cb%3E \\u00e7',
    ].map((extra) => of(extra));
    const all = [...others, ...nobodys, keyed, ...strangers];
    await applyObservations(
      environment.context,
      all.map((one) => observeNow(environment.context, one)),
    );
    const { person, values } = await findPerson(environment.context, written.dotted, NO_PERSON_VALUES);
    const ids = new Set(person.transactions.map((one) => one.id));
    const missing = (list: { id: string }[]) =>
      list.flatMap((one, index) => (ids.has(one.id) ? [] : [extras[index] ?? 'key']));
    expect(missing([...nobodys, keyed])).toEqual([]);
    expect(ids.size).toBe(nobodys.length + 1);
    expect(person.mentions).toHaveLength(others.length);
    expect(values.own).toEqual(expect.arrayContaining(extras));
    for (const extra of extras) expect(person.redact(JSON.stringify({ extra })), extra).not.toContain(extra);
  });
});

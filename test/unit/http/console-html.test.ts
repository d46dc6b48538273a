import fc from 'fast-check';
import { expect, test } from 'vitest';
import { html, tHtml } from '../../../src/http/console/parts/html.ts';
import { propertyOptions } from '../../support/property.ts';

test('a value never adds markup to the page', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'<>"\'&;=/ aé\u0000\u2028') }), (value) => {
      const { text } = html`<p title="${value}">${value}</p>`;
      const inside = text.slice('<p title="'.length, -'</p>'.length);
      const [attribute, ...rest] = inside.split('">');
      expect(rest).toHaveLength(1);
      expect(`${attribute}${rest[0]}`).not.toMatch(/[<>"']/);
    }),
    propertyOptions(30, 300),
  );
});

test('nested markup is not escaped, lists render in order, empty values render nothing', () => {
  const items = ['<i>', 'b'].map((one) => html`<li>${one}</li>`);
  expect(html`<ul>${items}</ul>${null}${undefined}${false}${items.length - 2}${12n}`.text).toBe(
    '<ul><li>&lt;i&gt;</li><li>b</li></ul>012',
  );
});

test('the types refuse a number before &&, which would render as a stray 0', () => {
  const [count, cents] = [Number('0'), BigInt('0')];
  // @ts-expect-error -- the number of an empty list
  expect(html`a${count && html`b`}`.text).toBe('a0');
  // @ts-expect-error -- no cents, in a list
  expect(html`a${[cents && html`b`]}`.text).toBe('a0');
  expect(html`a${count > 0 && html`b`}${count}`.text).toBe('a0');
});

test('characters that cannot be seen are shown where people read a value, and stay in what is sent back or followed', () => {
  const name = 'a\u202eb\u200b\u0000';
  const shown = 'a⟨U+202E⟩b⟨U+200B⟩⟨U+0000⟩';
  expect(html`<p class="x ${'y'}" title="${name}">${name} <b>${[name]}</b></p>`.text).toBe(
    `<p class="x y" title="${shown}">${shown} <b>${shown}</b></p>`,
  );
  expect(html`<option value="${name}">${name}</option>`.text).toBe(`<option value="${name}">${shown}</option>`);
  expect(html`<input name="a" value="x${1}${name}" data-b="${name}"> ${name}`.text).toBe(
    `<input name="a" value="x1${name}" data-b="${name}"> ${shown}`,
  );
  expect(html`<textarea${html` rows="${3}"`}>${name}</textarea>${name}`.text).toBe(
    `<textarea rows="3">${name}</textarea>${shown}`,
  );
  expect(tHtml('{name}: guarde este segredo agora. Ele não aparece de novo.', { name }).text).toContain(shown);
});

test.each([
  ['José da Silva\r\n\t1,00\u00a0€', 'José da Silva\r\n\t1,00\u00a0€'],
  ['família 👨‍👩‍👧 ❤️‍🔥 ❤️ 1️⃣', 'família 👨‍👩‍👧 ❤️‍🔥 ❤️ 1️⃣'],
  ['lo\ufe0fja 1\ufe0f2\ufff9', 'lo⟨U+FE0F⟩ja 1⟨U+FE0F⟩2⟨U+FFF9⟩'],
  ['1\u200d2 \ufeffx\u00ad', '1⟨U+200D⟩2 ⟨U+FEFF⟩x⟨U+00AD⟩'],
  ['\u2066שלום\u2069 \u200f\u061c', '⟨U+2066⟩שלום⟨U+2069⟩ ⟨U+200F⟩⟨U+061C⟩'],
  ['\u{e0041}\u2028\u3164\u007f', '⟨U+E0041⟩⟨U+2028⟩⟨U+3164⟩⟨U+007F⟩'],
])('%j is shown as %j', (text, shown) => {
  expect(html`${text}`.text).toBe(shown);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { html } from '../../../src/http/console/parts/html.ts';
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
  expect(html`<ul>${items}</ul>${null}${undefined}${false}${0}${12n}`.text).toBe(
    '<ul><li>&lt;i&gt;</li><li>b</li></ul>012',
  );
});

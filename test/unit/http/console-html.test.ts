import fc from 'fast-check';
import { expect, test } from 'vitest';
import { html } from '../../../src/http/console/parts/html.ts';
import { propertyOptions } from '../../support/property.ts';

test('whatever a value holds, no markup of it reaches the page', () => {
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

test('markup in markup stands as it is, lists one after another, nothing as nothing', () => {
  const items = ['<i>', 'b'].map((one) => html`<li>${one}</li>`);
  expect(html`<ul>${items}</ul>${null}${undefined}${false}${0}${12n}`.text).toBe(
    '<ul><li>&lt;i&gt;</li><li>b</li></ul>012',
  );
});

/** Renders our own documents. Their source is trusted, so the markup is not sanitised. */
import { readFileSync } from 'node:fs';
import { Marked, Renderer } from 'marked';
import { type Html, trustedHtml } from '../parts/html.ts';

/** Reads a document of `docs/`. */
export function readDocument(file: string): string {
  return readFileSync(new URL(`../../../../docs/${file}`, import.meta.url), 'utf8');
}

/**
 * Pictures are left out.
 * @param findAddress the address that a link leads to; undefined: what it names is not served, and the link stays text.
 * @param findPage the address of a page that the text names: `*Saldos*`.
 */
export function renderDocument(
  text: string,
  findAddress: (href: string) => string | undefined,
  findPage: (name: string) => string | undefined = () => undefined,
): Html {
  const marked = new Marked({
    async: false,
    renderer: {
      link({ href, tokens }) {
        const words = this.parser.parseInline(tokens);
        const address = findAddress(href);
        return address === undefined ? words : `<a href="${address}">${words}</a>`;
      },
      em({ tokens, text: name }) {
        const [words, address] = [this.parser.parseInline(tokens), findPage(name)];
        return address === undefined ? `<em>${words}</em>` : `<a href="${address}">${words}</a>`;
      },
      image: () => '',
      heading({ tokens, depth, text: heading }) {
        return `<h${depth} id="${nameAnchor(heading)}">${this.parser.parseInline(tokens)}</h${depth}>`;
      },
      table(token) {
        return `<div class="scroll" tabindex="0" role="group">${Renderer.prototype.table.call(this, token)}</div>`;
      },
    },
  });
  return trustedHtml(marked.parse(text, { async: false }));
}

/** The anchor of a heading, as GitHub makes it. */
export function nameAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

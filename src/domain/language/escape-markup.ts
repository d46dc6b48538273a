/** Escapes `&`, `<` and `>`, the marks of HTML, XML, SGML and Slack. In an attribute its quotes must be escaped too. */
export function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

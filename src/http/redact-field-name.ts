const PLAIN_NAME = /^(?=.{1,32}$)[a-z_]+\d?[a-z_]*$/i;

/**
 * The name that a caller gave a parameter or a field, for an error answer, which proxies and clients may log. A name that
 * is no plain word, such as a document or an e-mail, may be anybody's data in the wrong place: it is not repeated.
 */
export function redactFieldName(name: string): string {
  return PLAIN_NAME.test(name) ? name : '(no plain name)';
}

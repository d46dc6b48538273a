const PLAIN_NAME = /^(?=.{1,32}$)[a-z_]+\d?[a-z_]*$/i;

/**
 * Returns the name of a parameter or field for an error response, which proxies and clients may log. A name that is not a
 * plain word, such as a document or an e-mail, may be personal data in the wrong place: it is redacted.
 */
export function redactFieldName(name: string): string {
  return PLAIN_NAME.test(name) ? name : '(no plain name)';
}

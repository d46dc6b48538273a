/**
 * Why a login did not succeed:
 * - `denied`: the person, or the issuer, declined;
 * - `refused`: the answer does not fit this attempt, or is not valid: a wrong state, a code that was used, a token that expired;
 * - `unavailable`: the issuer did not answer, or answered nonsense;
 * - `misconfigured`: the issuer does not accept Confere's id, secret or address.
 */
export type LoginFailure = 'denied' | 'refused' | 'unavailable' | 'misconfigured';

/** A login that failed. The message is for the log and the doctor: it quotes nothing of the issuer's answer but codes. */
export class LoginError extends Error {
  readonly reason: LoginFailure;
  /** A code of OAuth, of openid-client or of the connection. */
  readonly code: string;

  constructor(reason: LoginFailure, code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'LoginError';
    this.reason = reason;
    this.code = code;
  }
}

const DECLINED = ['access_denied', 'consent_required', 'interaction_required', 'login_required'];
const OVERLOADED = ['temporarily_unavailable', 'server_error'];
const MISCONFIGURED = [
  'invalid_client',
  'unauthorized_client',
  'invalid_scope',
  'unsupported_response_type',
  'invalid_request',
];
/** Errors of openid-client about an answer that no issuer sends. */
const NO_ANSWER = ['OAUTH_TIMEOUT', 'OAUTH_ABORT', 'OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON'];
/** An OAuth error code. Longer or other texts are not quoted. */
const OAUTH_CODE = /^[a-z_]{1,60}$/;

/** Classifies an error of openid-client, of a request, or of an answer of the issuer. */
export function describeLoginFailure(error: unknown): LoginError {
  const ours = listCauses(error).find((one) => one instanceof LoginError);
  if (ours) return ours;
  const { name, code, error: answer, status } = (error ?? {}) as Record<string, unknown>;
  if (name === 'AuthorizationResponseError' || name === 'ResponseBodyError') {
    const said = typeof answer === 'string' && OAUTH_CODE.test(answer) ? answer : 'unknown_error';
    const reason = DECLINED.includes(said)
      ? 'denied'
      : OVERLOADED.includes(said) || (typeof status === 'number' && status >= 500)
        ? 'unavailable'
        : MISCONFIGURED.includes(said)
          ? 'misconfigured'
          : 'refused';
    return new LoginError(reason, said, `the issuer answered ${said}`, error);
  }
  if (name === 'WWWAuthenticateChallengeError') {
    return new LoginError(
      'misconfigured',
      'invalid_client',
      'the issuer does not accept OIDC_CLIENT_ID or its secret',
      error,
    );
  }
  const connection = findConnectionCode(error);
  if (connection !== undefined) {
    const reason = connection === 'FORBIDDEN_ADDRESS' ? 'misconfigured' : 'unavailable';
    return new LoginError(reason, connection, `the issuer did not answer (${connection})`, error);
  }
  const known = typeof code === 'string' ? code : 'unknown';
  if (NO_ANSWER.includes(known)) {
    return new LoginError('unavailable', known, `the issuer gave no usable answer (${known})`, error);
  }
  return new LoginError('refused', known, `the login was refused (${known})`, error);
}

/** The code of a failed connection: `fetch` wraps it in a TypeError. */
function findConnectionCode(error: unknown): string | undefined {
  for (const one of listCauses(error)) {
    const { code } = one as { code?: unknown };
    if (one.name === 'TimeoutError') return 'timeout';
    if (typeof code === 'string' && CONNECTION_CODE.test(code)) return code;
  }
  return undefined;
}

/** Codes of sockets, name servers, undici, TLS, and our check of addresses. */
const CONNECTION_CODE =
  /^(?:E(?!RR_)[A-Z_]{3,}|UND_ERR_\w+|FORBIDDEN_ADDRESS|CERT_\w+|(?=\w+_CERT)\w+|UNABLE_TO_\w+|HOSTNAME_MISMATCH)$/;
const CAUSES_MAX = 5;

/** The error and its causes. */
function listCauses(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let one = error; one instanceof Error && causes.length < CAUSES_MAX; one = one.cause) causes.push(one);
  return causes;
}

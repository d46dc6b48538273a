import type { ErrorClass } from './decide-outcome.ts';

const CLASS_BY_CODE: Record<string, ErrorClass> = {
  FORBIDDEN_ADDRESS: 'forbidden_address',
  UND_ERR_ABORTED: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'connect',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: 'headers_too_large',
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  UND_ERR_SOCKET: 'connection_lost',
  ECONNRESET: 'connection_lost',
  EPIPE: 'connection_lost',
  ECONNREFUSED: 'connect',
  EHOSTUNREACH: 'connect',
  ENETUNREACH: 'connect',
  ENETDOWN: 'connect',
  EADDRNOTAVAIL: 'connect',
  ETIMEDOUT: 'connect',
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  ENODATA: 'dns',
  EPROTO: 'tls',
};
const TLS_CODE = /^(CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA)/;
const DEPTH_MAX = 4;

/** Classifies the error of an attempt that got no response. */
export function classifyError(error: unknown, depth = 0): ErrorClass {
  if (!(error instanceof Error) || depth > DEPTH_MAX) return 'bad_response';
  // a DOMException's code is a number
  const { code } = error as { code?: unknown };
  if (typeof code === 'string') {
    const known = CLASS_BY_CODE[code];
    if (known) return known;
    if (TLS_CODE.test(code)) return 'tls';
    if (code.startsWith('HPE_')) return 'bad_response';
  }
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return 'timeout';
  // several addresses were tried: the first failure stands for all
  if (error instanceof AggregateError && error.errors.length > 0) return classifyError(error.errors[0], depth + 1);
  return error.cause === undefined ? 'bad_response' : classifyError(error.cause, depth + 1);
}

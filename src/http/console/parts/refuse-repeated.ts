import type { RequestHandler } from 'express';
import { ConfereError } from '../../../domain/errors.ts';
import { redactFieldName } from '../../redact-field-name.ts';
import { t } from '../languages/translate.ts';

/**
 * Refuses an address that gives a parameter more than once, or as a list (`state[]=open`), for all pages alike: a page
 * must not leave a filter out and show everything instead. Every page behind it reads a parameter as one text.
 */
export function refuseRepeated(): RequestHandler {
  return (request, _response, next) => {
    const wrong = Object.keys(request.query).filter((name) => Array.isArray(request.query[name]) || name.includes('['));
    if (wrong.length > 0) {
      const fields = Object.fromEntries(
        wrong.map((name) => [redactFieldName(name.replace(/\[.*/s, '')), [t('Só pode vir uma vez no endereço.')]]),
      );
      throw new ConfereError('invalid_request', 'a parameter is given more than once', { fields });
    }
    next();
  };
}

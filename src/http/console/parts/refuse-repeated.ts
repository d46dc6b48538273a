import type { RequestHandler } from 'express';
import { redactFieldName } from '../../../operations/parse-input.ts';
import { faultOf, refuseFields } from '../../../texts/refuse.ts';

/**
 * Refuses an address that gives a parameter more than once, or as a list (`state[]=open`), for all pages alike: a page
 * must not leave a filter out and show everything instead. Every page behind it reads a parameter as one text.
 */
export function refuseRepeated(): RequestHandler {
  return (request, _response, next) => {
    const wrong = Object.keys(request.query).filter((name) => Array.isArray(request.query[name]) || name.includes('['));
    if (wrong.length > 0) {
      throw refuseFields(wrong.map((name) => faultOf(redactFieldName(name.replace(/\[.*/s, '')), 'given_twice')));
    }
    next();
  };
}

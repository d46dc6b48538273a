import type { Request, RequestHandler, Response } from 'express';
import type { Context } from '../../../context.ts';
import type { Language } from '../../../domain/language/language.ts';
import { isLanguage, runInLanguage } from '../../../texts/language.ts';
import { isHttps, readCookie } from './require-session.ts';

const COOKIE = 'confere_language';
const COOKIE_MS = 365 * 86_400_000;

/** Runs the rest of a request in its language: that of `?lang=`, else of the cookie, else of Accept-Language, else pt-BR. */
export function chooseLanguage(): RequestHandler {
  return (request, _response, next) => {
    runInLanguage(findLanguage(request), next);
  };
}

function findLanguage(request: Request): Language {
  const chosen = [request.query.lang, readCookie(request, COOKIE)].find(isLanguage);
  // Express parses the header's weights; without a header, the first one is accepted
  return chosen ?? (request.acceptsLanguages('pt-BR', 'pt', 'en') === 'en' ? 'en' : 'pt-BR');
}

/** Keeps a person's choice in this browser. It is no secret: a link from another site shows pages in it too. */
export function setLanguageCookie(context: Pick<Context, 'config'>, response: Response, language: Language): void {
  const options = { httpOnly: true, sameSite: 'lax', secure: isHttps(context), path: '/' } as const;
  response.cookie(COOKIE, language, { ...options, maxAge: COOKIE_MS });
}

import type { Router } from 'express';
import type { Context } from '../../../context.ts';
import { isLanguage } from '../../../texts/language.ts';
import { refuse } from '../../../texts/refuse.ts';
import { createRouter } from '../../create-router.ts';
import { setLanguageCookie } from '../parts/choose-language.ts';
import { readFormField } from '../parts/parse-filters.ts';
import { checkOrigin } from '../parts/require-session.ts';
import { readNext } from './show-login.ts';

/** The form in each page's foot: keeps the language, and leads back to the page. It needs no session. */
export function languageForm(context: Context): Router {
  return createRouter().post('/language', (request, response) => {
    checkOrigin(context, request);
    const chosen = readFormField(request, 'language');
    if (!isLanguage(chosen)) throw refuse('language_unknown');
    setLanguageCookie(context, response, chosen);
    response.redirect(303, readNext(readFormField(request, 'next')));
  });
}

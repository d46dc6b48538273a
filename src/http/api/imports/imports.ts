import express, { type Request, type RequestHandler, type Response, type Router } from 'express';
import { z } from 'zod';
import { mayActAs } from '../../../access/roles.ts';
import type { Context } from '../../../context.ts';
import { importFile, isRepeated, presentOutcome, previewImport } from '../../../imports/import-file.ts';
import type { Answers } from '../../../imports/import-kind.ts';
import {
  bytesMaxOf,
  findImportKind,
  IMPORT_KIND_NAMES,
  IMPORT_ROLES,
  type ImportKindName,
  isImportKind,
} from '../../../imports/import-kinds.ts';
import { renderTemplate, TEMPLATE_FORMATS, type TemplateFormat } from '../../../imports/render-template.ts';
import { locale } from '../../../operations/fields.ts';
import { refuse } from '../../../texts/refuse.ts';
import { getActor, getCaller, requireRole } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { parseQuery } from '../../parse-request.ts';

const ANSWER_CHARS_MAX = 100;
const isTrue = z.enum(['true', 'false'], 'must be true or false').optional();

export const importQuerySchema = z.object({
  dry_run: isTrue.describe('check the file, import nothing'),
  allow_equal: isTrue.describe(
    'import also rows that equal an adjustment or a statement that is booked; else they are refused, each by its row',
  ),
  ...answerFields(),
});
function dropAbsent(answers: Record<string, string | undefined>): Answers {
  return Object.fromEntries(Object.entries(answers).flatMap(([name, one]) => (one === undefined ? [] : [[name, one]])));
}

/** The answers to what a file leaves open, of all kinds. */
function answerFields() {
  const questions = IMPORT_KIND_NAMES.flatMap((name) => Object.entries(findImportKind(name).questions ?? {}));
  const fields = questions.map(([name, { titles, answers }]) => {
    const value = answers === null ? z.string().min(1).max(ANSWER_CHARS_MAX) : z.enum(Object.keys(answers));
    return [name, value.optional().describe(`an answer to a 422 of the file: ${titles.en}`)] as const;
  });
  return Object.fromEntries(fields);
}

export const templateQuerySchema = z.object({ locale: locale.optional() });

/** Files that people import. It stands before the parser of JSON: the body is the file itself. @param once what its body passes then. */
export function importRoutes(context: Context, once: RequestHandler): Router {
  const router = createRouter();
  const readers = new Map(
    IMPORT_KIND_NAMES.map((name) => [name, express.raw({ type: () => true, limit: bytesMaxOf(name) })]),
  );
  const read: RequestHandler = (request, ...rest) => readers.get(readKind(request))?.(request, ...rest);
  const answer: RequestHandler = async (request, response) => {
    const kind = readKind(request);
    const query = parseQuery(request, importQuerySchema);
    const { dry_run, allow_equal, ...answers } = query;
    const [isDry, allowEqual] = [dry_run === 'true', allow_equal === 'true'];
    checkRole(response, kind);
    const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const file = { kind, bytes, answers: dropAbsent(answers) };
    const made = isDry
      ? await previewImport(context, file, { allowEqual })
      : await importFile(context, file, { actor: getActor(response), allowEqual });
    if (!made) throw refuse('file_imported');
    response.status(isDry || isRepeated(made) ? 200 : 201).json({ ...presentOutcome(made), dry_run: isDry });
  };
  router.post('/imports/:kind', requireRole(...IMPORT_ROLES), read, once, answer);
  // the address of the kind `bank` before it was one
  router.post('/bank/imports', requireRole(...findImportKind('bank').roles), read, once, answer);

  router.get('/imports/:kind/:file', requireRole('viewer'), async (request, response) => {
    const kind = readKind(request);
    const { locale: language = context.config.REPORT_LOCALE } = parseQuery(request, templateQuerySchema);
    const format = TEMPLATE_FORMATS.find((one) => request.params.file === `template.${one}`);
    const template = format && (await renderTemplate(context, kind, format, language));
    if (!format || !template) throw refuse('template_unknown');
    sendTemplate(response, { kind, format, template });
  });
  return router;
}

const TEMPLATE_TYPES: Record<TemplateFormat, string> = {
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  csv: 'text/csv; charset=utf-8',
};

/** Sends a template for download. @param of.kind the kind of import, or its name in the page's language. */
export function sendTemplate(
  response: Response,
  { kind, format, template }: { kind: ImportKindName | 'decisoes'; format: TemplateFormat; template: Buffer },
): void {
  response.setHeader('content-disposition', `attachment; filename="confere-${kind}.${format}"`);
  response.setHeader('content-type', TEMPLATE_TYPES[format]);
  response.send(template);
}

function readKind(request: Request): ImportKindName {
  const name = String(request.params.kind ?? 'bank');
  if (!isImportKind(name)) throw refuse('import_kind_unknown');
  return name;
}

function checkRole(response: Response, kind: ImportKindName): void {
  const { role } = getCaller(response);
  const { roles } = findImportKind(kind);
  if (!mayActAs(role, ...roles)) throw refuse('role_missing', { roles: roles.join(' or '), role });
}

import type { Request, Response, Router } from 'express';
import type { Context } from '../../../context.ts';
import { isMismatchKind } from '../../../domain/mismatch.ts';
import type { OpenCause } from '../../../mismatches/read-open-causes.ts';
import { RESOLVED_MAX } from '../../../mismatches/resolve-many.ts';
import { MISMATCH_NOTE_CHARS_MAX } from '../../../mismatches/resolve-mismatch-by-hand.ts';
import { type GivenOf, makeChange } from '../../../operations/define-change.ts';
import { acknowledgeMismatches, resolveMismatches } from '../../../operations/mismatches.ts';
import { refuse } from '../../../texts/refuse.ts';
import { t } from '../../../texts/translate.ts';
import { getCaller, requireRole } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { formatCount, formatMoney } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { readFormField } from '../parts/parse-filters.ts';
import { hasRole, postForm } from '../parts/send-page.ts';

/** The forms that acknowledge or resolve all open mismatches of a kind, or of one cause. */
export function handleMismatchesPages(context: Context): Router {
  const router = createRouter();
  for (const [action, change, done] of [
    ['acknowledge', acknowledgeMismatches, 'acknowledged_many'],
    ['resolve', resolveMismatches, 'resolved_many'],
  ] as const) {
    router.post(`/mismatches/${action}`, requireRole(...change.roles), async (request, response) => {
      const by = { caller: getCaller(response), id: '', via: 'console' } as const;
      const { made } = await makeChange<Given, { more: boolean }>(context, change, { given: readGiven(request), by });
      response.redirect(303, `/mismatches?done=${made?.more ? 'handled_some' : done}`);
    });
  }
  return router;
}

type Given = GivenOf<typeof resolveMismatches>;

function readGiven(request: Request): Given {
  const [kind = '', before = ''] = ['kind', 'opened_before'].map((name) => readFormField(request, name));
  if (!isMismatchKind(kind) || Number.isNaN(Date.parse(before))) throw refuse('form_outdated');
  return { kind, cause: readFormField(request, 'cause'), opened_before: before, note: readFormField(request, 'note') };
}

/**
 * The form for all of one kind, or of one of its causes; undefined where fewer than two are open. It covers those that were
 * open when the page was shown: later ones nobody has seen.
 */
export function handleManyForm(
  context: Context,
  response: Response,
  { kind, cause, causes }: { kind: string; cause: string | undefined; causes: OpenCause[] },
): Html | undefined {
  const chosen = causes.filter((one) => cause === undefined || one.cause === cause);
  const count = chosen.reduce((sum, one) => sum + one.count, 0);
  const stake = chosen.reduce((sum, one) => sum + one.stakeCents, 0n);
  if (count < 2 || !hasRole(response, ...resolveMismatches.roles)) return undefined;
  const isCritical = chosen.some((one) => one.severity === 'critical');
  const content = html`<input type="hidden" name="kind" value="${kind}"><input type="hidden" name="cause" value="${cause ?? ''}">
<input type="hidden" name="opened_before" value="${context.clock.now().toISOString()}">
<label><span>${isCritical ? t('Observação (exigida para resolver as críticas)') : t('Observação')}</span><textarea name="note" rows="2" maxlength="${MISMATCH_NOTE_CHARS_MAX}" placeholder="${t('O que você descobriu ou decidiu')}"${isCritical && html` required`}></textarea></label>
<div class="actions"><button formaction="/mismatches/acknowledge" class="secondary" formnovalidate>${t('Estou tratando de todas')}</button><button formaction="/mismatches/resolve">${t('Resolver todas')}</button></div>
<p class="hint">${t('O razão não muda. Cada uma fica registrada na auditoria, com esta observação.')} ${
    count > RESOLVED_MAX && t('Uma vez trata de {n}: repita para as outras.', { n: formatCount(RESOLVED_MAX) })
  }</p>`;
  const sum = { n: formatCount(count), stake: formatMoney(stake) };
  const title =
    cause === undefined
      ? t('Tratar das {n} em aberto, {stake} em jogo', sum)
      : t('Tratar das {n} em aberto desta causa, {stake} em jogo', sum);
  return html`<section class="act"><h2>${title}</h2>${postForm(response, '/mismatches/resolve', content)}</section>`;
}

import type { Router } from 'express';
import { replayOwn } from '../../../operations/merchants/portal.ts';
import type { MerchantScope, PortalContext } from '../../../portal/open-scope.ts';
import { t } from '../../../texts/translate.ts';
import { ofChange } from '../forms/two-step-form.ts';
import { describeFailed, replayParts } from '../merchants/replay-form.ts';
import { html } from '../parts/html.ts';
import type { CreatePortalForm } from './portal-form.ts';
import { CALLBACKS, FEED } from './site.ts';

/** The form that sends the merchant's callbacks of a range again; its preview counts them by type. */
export function replayForm(context: PortalContext, form: CreatePortalForm): Router {
  const parts = replayParts<MerchantScope>(context, (range, { merchant, previewReplay }) => ({
    merchant,
    count: () => previewReplay(range),
  }));
  return form({
    ...parts,
    ...ofChange(replayOwn),
    address: '/portal/replay',
    above: async () =>
      html`<p class="hint">${t('Testes, exemplos e manifestos dos dias não fazem parte de um período.')} <a href="${CALLBACKS.address}?tests=only&amp;state=failed">${t('Reenviar os testes que falharam')}</a> · <a href="${FEED.address}">${t(FEED.title)}</a></p>`,
    initial: async ({ findFirstFailed }) => describeFailed(context, await findFirstFailed()),
    read: (draft) => ({ ...parts.read(draft), dry_run: false }),
  });
}

import type { Router } from 'express';
import type { Context } from '../../../context.ts';
import { findMerchant, type MerchantRow } from '../../../merchants/read-merchants.ts';
import { findNewestSecret } from '../../../merchants/secrets.ts';
import type { GivenOf, MadeOf } from '../../../operations/define-change.ts';
import { rotateMerchantSecret } from '../../../operations/merchants/merchants.ts';
import { endPullToken, givePullToken } from '../../../operations/merchants/pull-tokens.ts';
import { t } from '../../../texts/translate.ts';
import { createRouter } from '../../create-router.ts';
import { serveTwoStepForm } from '../forms/serve-two-step-form.ts';
import { ofChange, type TwoStepForm } from '../forms/two-step-form.ts';
import { inputField, parseWall } from '../parts/fields.ts';
import { moment } from '../parts/format.ts';
import { html, tHtml } from '../parts/html.ts';
import { facts } from '../parts/page-components.ts';
import { ofMerchant, showSecret } from './merchant-forms.ts';

/** The forms that rotate a merchant's secret, and give it or revoke its pull token. */
export function secretForms(context: Context): Router {
  return createRouter().use([
    serveTwoStepForm(context, rotationForm(context)),
    serveTwoStepForm(context, pullTokenForm(context)),
    serveTwoStepForm(context, revocationForm(context)),
  ]);
}

const PASSED = 'Escolha um instante que ainda não passou.';

function rotationForm(context: Context): TwoStepForm<unknown, MerchantRow, MadeOf<typeof rotateMerchantSecret>> {
  const follows = (): string =>
    t('O segredo de hoje assina junto por mais 24 horas; um que ainda valia de uma troca anterior acaba já.');
  return {
    ...ofMerchant(context),
    ...ofChange(rotateMerchantSecret),
    address: '/merchants/:id/rotate-secret',
    title: 'Trocar o segredo',
    lead: 'O lojista ganha um segredo novo para conferir a assinatura dos callbacks.',
    names: [],
    fields: async (_draft, { name }) => html`<p><b>${name}</b></p><p>${follows()}</p>`,
    read: () => undefined,
    preview: async (_value, { name }) =>
      html`<p class="explain"><b>${name}.</b> ${follows()} ${t('O novo aparece uma só vez.')}</p>`,
    // another rotation would end the secret that signs today
    basis: async ({ db }, { seq }) => String(await findNewestSecret(db, seq)),
    shown({ secret, oldUntil }, item) {
      const until = tHtml('O segredo anterior assina junto até {at}.', { at: moment(context.calendar, oldUntil) });
      return showSecret(item, secret, until);
    },
    done: 'repeated',
  };
}

const hashOfToken = async ({ db }: Context, { id }: MerchantRow): Promise<string> =>
  (await findMerchant(db, id)).pull_token_hash?.toString('hex') ?? '';

const describeToken = ({ pull_token_hash: hash }: MerchantRow): string =>
  hash === null
    ? t('Hoje ele não tem token.')
    : t('Hoje ele já tem um token: o novo o substitui, e o de hoje deixa de valer na hora.');

function pullTokenForm(context: Context): TwoStepForm<GivenOf<typeof givePullToken>, MerchantRow, string> {
  const { calendar, clock } = context;
  return {
    ...ofMerchant(context),
    ...ofChange(givePullToken),
    address: '/merchants/:id/pull-token',
    title: 'Dar um token de busca',
    lead: 'Com ele o lojista busca os seus eventos em GET /api/v1/events. Ele abre só os eventos deste lojista.',
    names: ['expires_at'],
    fields: async (draft, item) => html`<p><b>${item.name}</b></p><p>${describeToken(item)}</p>
${inputField(draft, { name: 'expires_at', label: 'Expira em', hint: 'Vazio: só quando for revogado ou trocado.' }, html` type="datetime-local" step="1"`)}`,
    read({ values: { expires_at: typed = '' }, faults }) {
      if (typed === '') return {};
      const wall = parseWall(typed);
      const expiresAt = wall === undefined ? undefined : calendar.toInstant(wall);
      if (expiresAt === undefined) faults.expires_at = t('Escolha o dia e a hora, ou nada.');
      else if (expiresAt <= clock.now()) faults.expires_at = t(PASSED);
      return { expires_at: expiresAt };
    },
    preview: async ({ expires_at: expiresAt }, item) =>
      html`<p class="explain"><b>${item.name}.</b> ${describeToken(item)} ${t('O texto do token aparece uma só vez.')}</p>${facts(
        [['Expira em', expiresAt ? moment(calendar, expiresAt) : t('não expira por si')]],
      )}`,
    basis: hashOfToken,
    shown(token, item) {
      const follows = html`${t('Como usar:')} <code>curl -H 'authorization: Bearer mpt_…' ${`<${t('endereço do Confere')}>`}/api/v1/events</code>`;
      return showSecret(item, token, follows);
    },
    done: 'repeated',
  };
}

function revocationForm(context: Context): TwoStepForm<unknown, MerchantRow> {
  return {
    ...ofMerchant(context),
    ...ofChange(endPullToken),
    address: '/merchants/:id/revoke-pull-token',
    title: 'Revogar o token de busca',
    lead: 'O lojista deixa de poder buscar os seus eventos, na hora. Os callbacks seguem como estão.',
    names: [],
    fields: async (_draft, item) => html`<p><b>${item.name}</b></p>`,
    read: () => undefined,
    preview: async (_value, item) =>
      html`<p class="explain">${tHtml('{name} deixa de buscar eventos na hora.', { name: html`<b>${item.name}</b>` })}</p>`,
    basis: hashOfToken,
    done: 'token_revoked',
  };
}

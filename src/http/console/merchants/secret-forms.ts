import type { Router } from 'express';
import type { Context } from '../../../context.ts';
import { issuePullToken, revokePullToken } from '../../../merchants/pull-token.ts';
import { findMerchant, type MerchantRow } from '../../../merchants/read-merchants.ts';
import { findNewestSecret, rotateSecret } from '../../../merchants/secrets.ts';
import { t } from '../../../texts/translate.ts';
import { createRouter } from '../../create-router.ts';
import { serveTwoStepForm } from '../forms/serve-two-step-form.ts';
import type { OwnForm, TwoStepForm } from '../forms/two-step-form.ts';
import { inputField, parseWall } from '../parts/fields.ts';
import { moment } from '../parts/format.ts';
import { html, tHtml } from '../parts/html.ts';
import { facts } from '../parts/page-components.ts';
import { ofMerchant, showSecret } from './merchant-forms.ts';

/** The forms that rotate a merchant's secret, and give it or revoke its pull token. */
export function secretForms(context: Context): Router {
  const shared = {
    ...ofMerchant(context),
    roles: ['admin'],
    names: [],
    read: () => undefined,
    done: 'repeated',
  } satisfies Partial<OwnForm<void, MerchantRow>>;
  const router = createRouter();
  router.use([
    serveTwoStepForm<void, MerchantRow>(context, { ...shared, ...rotation(context) }),
    serveTwoStepForm(context, pullTokenForm(context)),
    serveTwoStepForm<void, MerchantRow>(context, { ...shared, ...revocation() }),
  ]);
  return router;
}

const PASSED = 'Escolha um instante que ainda não passou.';

type Form = Pick<
  OwnForm<void, MerchantRow>,
  'address' | 'title' | 'lead' | 'fields' | 'preview' | 'change' | 'action' | 'basis'
> &
  Partial<Pick<OwnForm<void, MerchantRow>, 'done'>>;

function rotation(context: Context): Form {
  const follows = (): string =>
    t('O segredo de hoje assina junto por mais 24 horas; um que ainda valia de uma troca anterior acaba já.');
  return {
    address: '/merchants/:id/rotate-secret',
    title: 'Trocar o segredo',
    lead: 'O lojista ganha um segredo novo para conferir a assinatura dos callbacks.',
    fields: async (_draft, { name }) => html`<p><b>${name}</b></p><p>${follows()}</p>`,
    preview: async (_value, { name }) =>
      html`<p class="explain"><b>${name}.</b> ${follows()} ${t('O novo aparece uma só vez.')}</p>`,
    // another rotation would end the secret that signs today
    basis: async ({ db }, { seq }) => String(await findNewestSecret(db, seq)),
    async change(inner, _value, { item }) {
      const { secret, oldUntil } = await rotateSecret(inner, item.id);
      const until = tHtml('O segredo anterior assina junto até {at}.', { at: moment(context.calendar, oldUntil) });
      return { target: item.id, shown: showSecret(item, secret, until) };
    },
    action: 'merchant.secret_rotated',
  };
}

const hashOfToken = async ({ db }: Context, { id }: MerchantRow): Promise<string> =>
  (await findMerchant(db, id)).pull_token_hash?.toString('hex') ?? '';

const describeToken = ({ pull_token_hash: hash }: MerchantRow): string =>
  hash === null
    ? t('Hoje ele não tem token.')
    : t('Hoje ele já tem um token: o novo o substitui, e o de hoje deixa de valer na hora.');

function pullTokenForm(context: Context): TwoStepForm<Date | undefined, MerchantRow> {
  const { calendar, clock } = context;
  return {
    ...ofMerchant(context),
    address: '/merchants/:id/pull-token',
    roles: ['admin'],
    title: 'Dar um token de busca',
    lead: 'Com ele o lojista busca os seus eventos em GET /api/v1/events. Ele abre só os eventos deste lojista.',
    names: ['expires_at'],
    fields: async (draft, item) => html`<p><b>${item.name}</b></p><p>${describeToken(item)}</p>
${inputField(draft, { name: 'expires_at', label: 'Expira em', hint: 'Vazio: só quando for revogado ou trocado.' }, html` type="datetime-local" step="1"`)}`,
    read({ values: { expires_at: typed = '' }, faults }) {
      if (typed === '') return undefined;
      const wall = parseWall(typed);
      const expiresAt = wall === undefined ? undefined : calendar.toInstant(wall);
      if (expiresAt === undefined) faults.expires_at = t('Escolha o dia e a hora, ou nada.');
      else if (expiresAt <= clock.now()) faults.expires_at = t(PASSED);
      return expiresAt;
    },
    preview: async (expiresAt, item) =>
      html`<p class="explain"><b>${item.name}.</b> ${describeToken(item)} ${t('O texto do token aparece uma só vez.')}</p>${facts(
        [['Expira em', expiresAt ? moment(calendar, expiresAt) : t('não expira por si')]],
      )}`,
    basis: hashOfToken,
    async change(inner, expiresAt, { item }) {
      const token = await issuePullToken(inner, item.id, expiresAt);
      const follows = html`${t('Como usar:')} <code>curl -H 'authorization: Bearer mpt_…' ${`<${t('endereço do Confere')}>`}/api/v1/events</code>`;
      return { target: item.id, shown: showSecret(item, token, follows) };
    },
    action: 'merchant.pull_token_given',
    done: 'repeated',
  };
}

function revocation(): Form {
  return {
    address: '/merchants/:id/revoke-pull-token',
    title: 'Revogar o token de busca',
    lead: 'O lojista deixa de poder buscar os seus eventos, na hora. Os callbacks seguem como estão.',
    fields: async (_draft, item) => html`<p><b>${item.name}</b></p>`,
    preview: async (_value, item) =>
      html`<p class="explain">${tHtml('{name} deixa de buscar eventos na hora.', { name: html`<b>${item.name}</b>` })}</p>`,
    basis: hashOfToken,
    async change(inner, _value, { item }) {
      await revokePullToken(inner, item.id);
      return item.id;
    },
    action: 'merchant.pull_token_revoked',
    done: 'token_revoked',
  };
}

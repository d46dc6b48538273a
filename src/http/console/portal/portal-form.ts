import type { Router } from 'express';
import type { Context } from '../../../context.ts';
import type { MerchantScope } from '../../../portal/open-scope.ts';
import type { OwnChanges } from '../../../portal/own-changes.ts';
import { getScope } from '../../access/require-scope.ts';
import { serveTwoStepForm } from '../forms/serve-two-step-form.ts';
import type { OwnForm } from '../forms/two-step-form.ts';
import { HOME } from './site.ts';

type Form<Value> = OwnForm<Value, MerchantScope>;

/** A form of the portal in two steps. Its change has the changes of the request's merchant and no database. */
export type PortalForm<Value> = Omit<Form<Value>, 'roles' | 'section' | 'list' | 'find' | 'change'> & {
  change(changes: OwnChanges, value: Value, scope: MerchantScope): ReturnType<Form<Value>['change']>;
};
export type CreatePortalForm = <Value>(form: PortalForm<Value>) => Router;

/** Returns the function that makes forms of the portal. */
export function createPortalForms(context: Context): CreatePortalForm {
  return (form) =>
    serveTwoStepForm(context, {
      ...form,
      roles: 'merchant',
      section: HOME,
      list: HOME,
      find: async (_request, response) => getScope(response),
      change: (inner, value, { item }) => form.change(item.changesIn(inner), value, item),
    });
}

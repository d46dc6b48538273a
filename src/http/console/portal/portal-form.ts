import type { Response, Router } from 'express';
import type { Context } from '../../../context.ts';
import type { MerchantScope } from '../../../portal/open-scope.ts';
import { getScope } from '../../access/require-scope.ts';
import { serveTwoStepForm } from '../forms/serve-two-step-form.ts';
import type { Place, TwoStepForm } from '../forms/two-step-form.ts';
import { HOME } from './site.ts';

export type CreatePortalForm = <Value, Made>(
  form: Omit<TwoStepForm<Value, MerchantScope, Made>, 'section' | 'list' | 'find'> & { list?: Place },
) => Router;

/** Returns the function that makes forms of the portal, in two steps. */
export function createPortalForms(context: Context): CreatePortalForm {
  const shared = {
    section: HOME,
    list: HOME,
    find: async (_request: unknown, response: Response) => getScope(response),
  };
  return (form) => serveTwoStepForm(context, { ...shared, ...form });
}

import { describe, expect, it } from 'vitest';
import { describeApi } from '../../../sandbox/http/describe-api.ts';

describe('the OpenAPI document', () => {
  it('has the four endpoints, bearer authentication, and every filter of the list', () => {
    const { paths, openapi, components } = JSON.parse(JSON.stringify(describeApi()));
    expect(openapi).toMatch(/^3\.1\./);
    expect(Object.keys(paths)).toEqual([
      '/api/v1/transaction/pix/cashin',
      '/api/v1/transaction/pix/cashout',
      '/api/v1/transaction/{id}',
      '/api/v1/transactions',
    ]);
    expect(components.securitySchemes.bearer).toEqual({ type: 'http', scheme: 'bearer' });
    const names = paths['/api/v1/transactions'].get.parameters.map(({ name }: { name: string }) => name);
    expect(names).toEqual([
      'identifier',
      'reference',
      'status',
      'name_document',
      'phone',
      'initial_date',
      'final_date',
      'platform',
      'pix_key',
      'page',
    ]);
    const { required } = paths['/api/v1/transaction/pix/cashout'].post.requestBody.content['application/json'].schema;
    expect(required).toEqual([
      'name',
      'email',
      'phone',
      'description',
      'document',
      'amount',
      'platform',
      'pix_key',
      'key_type',
    ]);
  });
});

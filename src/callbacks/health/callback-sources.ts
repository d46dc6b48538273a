/** `callbacks.source` of callbacks that no event caused, and that have no transaction. */
export const TEST_SOURCE = 'test';
export const MANIFEST_SOURCE = 'manifest';

import type { Source } from '../../domain/observation.ts';

/** Returns a source as table columns. */
export function sourceColumns(source: Source | { kind: 'person' }) {
  return {
    source_kind: source.kind,
    source_webhook_seq: source.kind === 'webhook' ? source.webhook.seq : null,
    source_run_seq: 'run' in source ? (source.run?.seq ?? null) : null,
    source_page: source.kind === 'list' ? source.page : null,
  };
}

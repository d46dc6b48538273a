/** Notifications that Alertmanager sends to the pager and to the tickets: a person gets these. */
import { listen } from '../soak-replicas.ts';

type Notification = {
  alerts: { status: string; startsAt: string; fingerprint: string; labels: Record<string, string> }[];
};
/** An alert that was notified. `atMs`: of the first notification; `endedAtMs`: of that of its end. */
export type Notified = { path: string; name: string; labels: Record<string, string>; atMs: number; endedAtMs?: number };

export type Receiver = AsyncDisposable & { url: string; listSince(ms: number): Notified[] };

export async function openReceiver(): Promise<Receiver> {
  const seen = new Map<string, Notified>();
  const record = (target: string, { alerts }: Notification): void => {
    for (const { status, startsAt, fingerprint, labels } of alerts) {
      const key = `${target} ${fingerprint} ${startsAt}`;
      const known = seen.get(key);
      if (status === 'firing' && !known)
        seen.set(key, { path: target, name: labels.alertname ?? '', labels, atMs: Date.now() });
      if (status === 'resolved' && known) known.endedAtMs ??= Date.now();
    }
  };
  const listening = await listen((incoming, outgoing) => {
    const parts: Buffer[] = [];
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.once('end', () => {
      record(incoming.url ?? '', JSON.parse(Buffer.concat(parts).toString()) as Notification);
      outgoing.end();
    });
  });
  return { ...listening, listSince: (ms) => [...seen.values()].filter(({ atMs }) => atMs >= ms) };
}

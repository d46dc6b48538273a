/**
 * The verdict of the overview. It is green only if everything that it depends on is known and agrees: silence proves nothing.
 * Red: something known is wrong, the worst first. Grey: something is not known yet, with what answers it. Pure.
 */
import type { Count } from '../../../callbacks/health/count-undelivered.ts';
import type { Day } from '../../../domain/calendar.ts';
import { rankSeverity } from '../../../domain/mismatch.ts';
import type { PageProgress } from '../../../reconciliation/numbers/read-runs.ts';
import { plural, t } from '../../../texts/translate.ts';
import { formatAge, formatBounded, formatCount, formatDay, formatDuration, formatMoney } from '../parts/format.ts';
import { describeBooks } from './describe-books.ts';

/** How old the newest complete reading of today may be. */
export const READING_MS_MAX = 10 * 60_000;
/** How old the watch's last round may be: it finds what is stuck or fails, so without it no alert says nothing. */
const WATCH_MS_MAX = 10 * 60_000;
/** How long a webhook may wait for its first answered fetch. */
const UNVERIFIED_MS_MAX = 60_000;
/** Reasons of one kind that are named one by one; the others are counted. */
const NAMED_MAX = 5;

type ShownAlert = { title: string; text: string; severity: string; cents: bigint; since: Date; path: string };

export type VerdictFacts = {
  now: Date;
  today: Day;
  /** Firing alerts, the newest first: the first ones, and how many there are. */
  alerts: ShownAlert[];
  alertCount: number;
  /** Alerts that ask for a decision while nothing is wrong; not among `alerts`. */
  notices: ShownAlert[];
  /** Alerts from before a restore that is not confirmed: nothing says whether they hold now. */
  alertsBefore: number;
  /** Platforms whose newest stated balance is not the ledger's. */
  statements: { platform: string; differenceCents: bigint }[];
  /** `checkedAt`: when the newest check of the books ended well; `broken`: breaks that one found. */
  openMismatches: { count: number; cents: bigint; critical: number; broken: number; checkedAt: Date | undefined };
  /** Resolved by a person while the evidence is the same. */
  decided: { count: number; cents: bigint };
  /** Merchants that are disabled, or whose address fails. */
  merchants: { id: string; name: string; isDisabled: boolean; since: Date | undefined }[];
  failedCallbacks: Count;
  /** When the newest complete reading of today began. */
  readAt: Date | undefined;
  /** When the watch last went round. */
  watchedAt: Date | undefined;
  /** The run that is active since the longest time, with the pages that it has and knows of the days that it reads now. */
  activeRun: { id: string; reading: PageProgress | undefined } | undefined;
  /** Since when webhooks wait for their verification. */
  unverifiedSince: Date | undefined;
  /** How the provider fails: an operation and a cause, as in its alert. */
  providerFault: { percent: number; cause: string } | undefined;
  /** Since when the database takes no writes of this process. */
  unwritableSince: Date | undefined;
  /** The first day of the books: of the earliest opening, else the first one known. */
  booksFrom: Day;
  /** Ended days since then that no run has proven. */
  unproven: { count: number; oldest: Day | undefined };
  /** Platforms with entries and without an opening in force. No entries at all: undefined. */
  unopened: string[] | undefined;
};

/** `link`: an address; `run`: the button that starts a run over these days. */
export type Action = { kind: 'link'; text: string; path: string } | { kind: 'run'; text: string; from: Day; to: Day };
export type Reason = { text: string; action: Action };
export type Verdict = {
  state: 'wrong' | 'unknown' | 'good';
  wrong: Reason[];
  unknown: Reason[];
  notices: Reason[];
  decided: Reason | undefined;
};

/** Decides the verdict: `wrong` and `unknown` have every reason against a green one, in order. */
export function decideVerdict(facts: VerdictFacts): Verdict {
  const wrong = [
    ...listUnwritable(facts),
    ...listAlerts(facts),
    ...listDifferences(facts),
    ...listFailingMerchants(facts),
  ];
  const unknown = listUnknown(facts);
  const state = wrong.length > 0 ? 'wrong' : unknown.length > 0 ? 'unknown' : 'good';
  const notices = facts.notices.slice(0, NAMED_MAX).map((one) => describeAlert(one, facts.now));
  return { state, wrong, unknown, notices, decided: describeDecided(facts) };
}

const link = (text: string, path: string): Action => ({ kind: 'link', text, path });
const compare = (a: bigint | number, b: bigint | number): number => (a < b ? -1 : a > b ? 1 : 0);
const inMoney = (cents: bigint): string =>
  cents === 0n ? '' : `, ${t('{stake} em jogo', { stake: formatMoney(cents) })}`;

/** First of all: no alert can be stored meanwhile, and what is shown is what was stored last. */
function listUnwritable({ unwritableSince, now }: VerdictFacts): Reason[] {
  if (!unwritableSince) return [];
  const text = t('O banco de dados não aceita gravações ({age}): a página mostra o que estava gravado antes', {
    age: formatAge(unwritableSince, now),
  });
  return [{ text, action: link(t('O que fazer'), '/runbooks/database_read_only') }];
}

/** The most severe first; among equals the one with more money, then the older one. */
function listAlerts({ alerts, alertCount, now }: VerdictFacts): Reason[] {
  const ordered = alerts.toSorted(
    (a, b) =>
      rankSeverity(a.severity) - rankSeverity(b.severity) ||
      compare(b.cents, a.cents) ||
      compare(a.since.getTime(), b.since.getTime()),
  );
  const named = ordered.slice(0, NAMED_MAX).map((one) => describeAlert(one, now));
  const others = alertCount - named.length;
  if (others <= 0) return named;
  const text = plural(others, 'e mais {n} alerta', 'e mais {n} alertas');
  return [...named, { text, action: link(t('Ver os alertas'), '/alerts?state=firing') }];
}

function describeAlert({ title, text, since, path }: ShownAlert, now: Date): Reason {
  return { text: `${title}: ${text} (${formatAge(since, now)})`, action: link(t('Abrir'), path) };
}

function listDifferences({ statements, openMismatches, now }: VerdictFacts): Reason[] {
  const size = (cents: bigint): bigint => (cents < 0n ? -cents : cents);
  const differing = statements.toSorted((a, b) => compare(size(b.differenceCents), size(a.differenceCents)));
  const { count, cents } = openMismatches;
  return [
    ...differing.map(({ platform, differenceCents }) => ({
      text: t('O saldo informado da plataforma {platform} difere do razão em {amount}', {
        platform,
        amount: formatMoney(size(differenceCents)),
      }),
      action: link(t('Ver os saldos'), '/balances'),
    })),
    ...(count === 0
      ? []
      : [
          {
            text: `${plural(count, '{n} divergência em aberto ao todo', '{n} divergências em aberto ao todo')}${inMoney(cents)}${describeBooks(openMismatches, now)}`,
            action: link(t('Ver as divergências'), '/mismatches'),
          },
        ]),
  ];
}

function listFailingMerchants({ merchants, failedCallbacks, now }: VerdictFacts): Reason[] {
  const ordered = merchants.toSorted((a, b) => Number(b.isDisabled) - Number(a.isDisabled));
  const named = ordered.slice(0, NAMED_MAX).map(({ id, name, isDisabled, since }) => ({
    text: describeMerchant(
      name,
      isDisabled,
      since && formatDuration(Math.round((now.getTime() - since.getTime()) / 1000)),
    ),
    action: link(t('Ver o lojista'), `/merchants/${encodeURIComponent(id)}`),
  }));
  const others = merchants.length - named.length;
  const more = plural(others, 'e mais {n} lojista', 'e mais {n} lojistas');
  return [
    ...named,
    ...(others > 0 ? [{ text: more, action: link(t('Ver os lojistas'), '/merchants') }] : []),
    ...(failedCallbacks.n > 0
      ? [
          {
            text:
              failedCallbacks.n === 1
                ? t('1 callback falhou de vez')
                : t('{n} callbacks falharam de vez', { n: formatBounded(failedCallbacks) }),
            action: link(t('Ver os callbacks'), '/callbacks?state=failed'),
          },
        ]
      : []),
  ];
}

function describeMerchant(name: string, isDisabled: boolean, duration: string | undefined): string {
  if (duration === undefined)
    return t(isDisabled ? 'O lojista {name} está desativado' : 'O lojista {name} não aceita callbacks', { name });
  return t(
    isDisabled
      ? 'O lojista {name} está desativado há {duration}'
      : 'O lojista {name} não aceita callbacks há {duration}',
    { name, duration },
  );
}

function listUnknown(facts: VerdictFacts): Reason[] {
  const { now, today, readAt, watchedAt, activeRun, unproven, unopened, booksFrom, unverifiedSince, providerFault } =
    facts;
  const { alertsBefore } = facts;
  const start = (text: string, from: Day): Action =>
    activeRun === undefined
      ? { kind: 'run', text, from, to: today }
      : link(t('Acompanhar a conferência em curso'), `/reconciliations/${encodeURIComponent(activeRun.id)}`);
  const reasons: Reason[] = [];
  if (alertsBefore > 0) {
    const text = plural(
      alertsBefore,
      '{n} alerta é de antes da restauração, e nada diz que ainda vale',
      '{n} alertas são de antes da restauração, e nada diz que ainda valem',
    );
    reasons.push({ text, action: link(t('Ver os alertas'), '/alerts') });
  }
  if (!readAt || now.getTime() - readAt.getTime() > READING_MS_MAX) {
    const text = readAt
      ? t('A última conferência completa de hoje começou {age}', { age: formatAge(readAt, now) })
      : t('Nenhuma conferência leu hoje por inteiro');
    const reading = activeRun?.reading;
    const [pages, known] = [formatCount(reading?.pages ?? 0), formatCount(reading?.known ?? 0)];
    const soFar = reading && t('a conferência em curso leu {pages} de {known} páginas até agora', { pages, known });
    reasons.push({ text: [text, soFar].filter(Boolean).join('; '), action: start(t('Conferir hoje'), today) });
  }
  if (!watchedAt || now.getTime() - watchedAt.getTime() > WATCH_MS_MAX) {
    const text = watchedAt
      ? t('O vigia, que encontra o que parou, rodou pela última vez {age}', { age: formatAge(watchedAt, now) })
      : t('O vigia, que encontra o que parou, ainda não rodou');
    reasons.push({ text, action: link(t('Ver o sistema'), '/system') });
  }
  if (unverifiedSince && now.getTime() - unverifiedSince.getTime() > UNVERIFIED_MS_MAX) {
    const late = t('Um anúncio (webhook) espera verificação {age}', { age: formatAge(unverifiedSince, now) });
    const why =
      providerFault &&
      t('{percent} % das consultas ao provedor falham ou demoram ({cause})', {
        percent: String(providerFault.percent),
        cause: providerFault.cause,
      });
    const text = [late, why].filter(Boolean).join(': ');
    reasons.push({ text, action: link(t('Ver os webhooks'), '/inbox?state=pending') });
  }
  if (unproven.oldest !== undefined) {
    const text = plural(
      unproven.count,
      '{n} dia terminado sem prova desde {from}, o mais antigo {oldest}',
      '{n} dias terminados sem prova desde {from}, o mais antigo {oldest}',
      { from: formatDay(booksFrom), oldest: formatDay(unproven.oldest) },
    );
    reasons.push({ text, action: start(t('Conferir esses dias'), unproven.oldest) });
  }
  if (unopened === undefined || unopened.length > 0) {
    const text = unopened
      ? t('Sem saldo inicial: {platforms}', {
          platforms: `${unopened.slice(0, NAMED_MAX).join(', ')}${unopened.length > NAMED_MAX ? ', …' : ''}`,
        })
      : t('Nada foi lançado ainda, e não há saldo inicial');
    reasons.push({ text, action: link(t('Informar o saldo inicial'), '/balances/openings') });
  }
  return reasons;
}

function describeDecided({ decided: { count, cents } }: VerdictFacts): Reason | undefined {
  if (count === 0) return undefined;
  const resolved = plural(count, '{n} resolvida por decisão', '{n} resolvidas por decisão');
  const text = `${resolved}${inMoney(cents)}: ${t('a evidência continua a mesma')}`;
  return { text, action: link(t('Ver as decisões'), '/mismatches?state=resolved&decided=true') };
}

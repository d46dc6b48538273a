import { plural, t } from '../../../texts/translate.ts';
import { formatAge } from '../parts/format.ts';

/** Distinguishes open mismatches from what keeps a month open, and from broken books. */
export function describeBooks(
  { critical, broken, checkedAt }: { critical: number; broken: number; checkedAt: Date | undefined },
  now: Date,
): string {
  const urgent = plural(
    critical,
    '; {n} é crítica: das divergências, só uma crítica impede fechar um mês',
    '; {n} são críticas: das divergências, só as críticas impedem fechar um mês',
  );
  if (broken > 0 || !checkedAt) return urgent;
  return `${urgent}. ${t('A cadeia e os saldos dos livros conferem (verificados {age})', { age: formatAge(checkedAt, now) })}`;
}

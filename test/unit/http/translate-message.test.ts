import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { programText } from '../../../src/http/console/parts/page-components.ts';
import { runInLanguage } from '../../../src/texts/language.ts';
import { translateMessage } from '../../../src/texts/translate-message.ts';

const SRC = path.resolve(import.meta.dirname, '../../../src');

test.each([
  ['the provider answered 503', 'o provedor respondeu 503'],
  ['the provider answered 2 transactions, not one', 'o provedor mostrou 2 transações, e não uma'],
  ['provider_unavailable: the provider answered 503', 'provider_unavailable: o provedor respondeu 503'],
  ['3 pages only repeated another one: 5 ids were seen of 9', '3 páginas só repetiam outra: foram vistos 5 ids de 9'],
  ['11.8.2-MariaDB, flushed at every commit', '11.8.2-MariaDB, gravado em disco a cada commit'],
  [
    '11.8.2-MariaDB, flushed at every commit; all processes write to db1:3306 (since 2026-12-01T00:00:00.000Z)',
    '11.8.2-MariaDB, gravado em disco a cada commit; todos os processos gravam em db1:3306 (desde 2026-12-01T00:00:00.000Z)',
  ],
  [
    'opening op_1 is of 2026-12-01, a day to come: nothing of platform p1 is booked; confere open --undo op_1; statement st_1 is of 2026-12-01T00:00:00.000Z, an instant to come',
    'a abertura op_1 é de 2026-12-01, um dia por vir: nada da plataforma p1 é lançado; desfaça-a com confere open --undo op_1; o saldo informado st_1 é de 2026-12-01T00:00:00.000Z, um instante por vir',
  ],
  [
    "id.example answers; 12 ms between its clock and this machine's; it must know https://c.example/login/done",
    'id.example responde; 12 ms entre o relógio dele e o desta máquina; ele precisa conhecer https://c.example/login/done',
  ],
  [
    'the database (1.5 GiB, growing by 2.0 MiB a day); runs (16.0 KiB in all); the disk of DATA_DIR has 4.0 GiB free, and is full in 90 days',
    'o banco de dados (1.5 GiB, cresce 2.0 MiB por dia); runs (16.0 KiB ao todo); o disco de DATA_DIR tem 4.0 GiB livres e enche em 90 dias',
  ],
  ['its address answered 410 Gone', 'o endereço respondeu 410 Gone'],
])('“%s” is shown in Portuguese as “%s”', (message, portuguese) => {
  expect(translateMessage(message)).toBe(portuguese);
  expect(runInLanguage('en', () => translateMessage(message))).toBe(message);
});

test('a message of another program stays in English, and is marked so; its markup is text', () => {
  const message = "EACCES: permission denied, access '/var/<data>'";
  expect(translateMessage(message)).toBeUndefined();
  expect(programText(message).text).toBe(
    '<span lang="en">EACCES: permission denied, access &#39;/var/&lt;data&gt;&#39;</span>',
  );
  expect(programText('the provider did not answer GET (<b>)').text).toBe('o provedor não respondeu a GET (&lt;b&gt;)');
});

/** The texts that stand at a place of a file, with `7` in the place of each value. */
function textsIn(file: string, place: RegExp): string[] {
  const code = readFileSync(path.join(SRC, file), 'utf8');
  return [...code.matchAll(place)].map(([, , text = '']) => text.replace(/\$\{[^}]+\}/g, '7').replaceAll("\\'", "'"));
}

const QUOTED = '\\s*([\'"`])(.*?)\\1';

test('every reason for which a run waits or fails, has its Portuguese', () => {
  const provider = readdirSync(path.join(SRC, 'provider'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const failures = provider.flatMap((name) =>
    textsIn(path.join('provider', name), new RegExp(`new ProviderError\\(\\s*(?:'\\w+'|code),${QUOTED}`, 'g')),
  );
  const passes = textsIn('provider/list/check-pass.ts', new RegExp(`dirty\\(${QUOTED}`, 'g'));
  const waits = textsIn('reconciliation/runs/process-runs.ts', new RegExp(`why(?::| =)${QUOTED}`, 'g'));
  expect([failures.length, passes.length, waits.length].map((count) => count > 2)).toEqual([true, true, true]);
  expect([...failures, ...passes, ...waits].filter((text) => translateMessage(text) === undefined)).toEqual([]);
});

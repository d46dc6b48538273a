import { execFileSync } from 'node:child_process';
import { createSecretKey, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { sign } from '../../../src/callbacks/render/sign.ts';
import { DEEP } from '../../support/property.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';

const page = readFileSync(path.resolve(import.meta.dirname, '../../../docs/callbacks.md'), 'utf8');

type Language = {
  /** The files of a program that reads a case from each line of its input and prints `true` or `false` for it. */
  files: (snippet: string) => Record<string, string>;
  /** One after another; the last is the program. */
  commands: string[][];
};

/** Their compilers come with `bin/setup --deep`. A line: secret, id, timestamp, signatures and the body in base64. */
const LANGUAGES: Record<string, Language> = {
  go: {
    files: (snippet) => ({
      'go.mod': 'module shop\n',
      'webhook.go': snippet.replace('package webhook', 'package main'),
      'main.go': `package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"time"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		f := strings.Split(lines.Text(), "\\t")
		body, _ := base64.StdEncoding.DecodeString(f[4])
		headers := map[string]string{"webhook-id": f[1], "webhook-timestamp": f[2], "webhook-signature": f[3]}
		fmt.Println(Verify(f[0], headers, body, 5*time.Minute))
	}
}
`,
    }),
    commands: [['go', 'build', '-o', 'shop'], ['./shop']],
  },
  java: {
    files: (snippet) => ({
      'Webhook.java': snippet,
      'Main.java': `import java.util.*;
class Main {
  public static void main(String[] args) throws Exception {
    for (Scanner lines = new Scanner(System.in); lines.hasNextLine(); ) {
      String[] f = lines.nextLine().split("\\t", -1);
      Map<String, String> headers = Map.of("webhook-id", f[1], "webhook-timestamp", f[2], "webhook-signature", f[3]);
      System.out.println(Webhook.verify(f[0], headers, Base64.getDecoder().decode(f[4]), 300));
    }
  }
}
`,
    }),
    commands: [
      ['javac', 'Webhook.java', 'Main.java'],
      ['java', 'Main'],
    ],
  },
  csharp: {
    files: (snippet) => ({
      'Webhook.cs': snippet,
      'Program.cs': `using System;
using System.Collections.Generic;
static class Program
{
    static void Main()
    {
        for (string line; (line = Console.ReadLine()) != null; )
        {
            var f = line.Split('\\t');
            var headers = new Dictionary<string, string> {
                ["webhook-id"] = f[1], ["webhook-timestamp"] = f[2], ["webhook-signature"] = f[3] };
            Console.WriteLine(Webhook.Verify(f[0], headers, Convert.FromBase64String(f[4])) ? "true" : "false");
        }
    }
}
`,
    }),
    commands: [
      ['mcs', '-langversion:7', '-out:shop.exe', 'Webhook.cs', 'Program.cs'],
      ['mono', 'shop.exe'],
    ],
  },
  ruby: {
    files: (snippet) => ({
      'shop.rb': `${snippet}
STDIN.each_line(chomp: true) do |line|
  secret, id, timestamp, signature, body = line.split("\\t", -1)
  headers = { "webhook-id" => id, "webhook-timestamp" => timestamp, "webhook-signature" => signature }
  puts verify(secret, headers, Base64.strict_decode64(body))
end
`,
    }),
    commands: [['ruby', 'shop.rb']],
  },
};

test.runIf(DEEP).each(Object.keys(LANGUAGES))(
  'the %s snippet takes our signatures, during a rotation too, and no message with any part changed',
  (name) => {
    using home = temporaryDirectory();
    const { files, commands } = LANGUAGES[name] as Language;
    for (const [file, text] of Object.entries(files(snippet(name)))) writeFileSync(path.join(home.path, file), text);
    const [key, other] = [randomBytes(32), randomBytes(32)];
    const body = '{"type":"confere.test","name":"Zoë Ação"}';
    const seconds = Math.floor(Date.now() / 1000);
    const signed = (keys: Buffer[], timestamp = seconds) =>
      sign(
        keys.map((one) => createSecretKey(one)),
        { id: 'msg_1', timestamp, body },
      );
    const secret = `whsec_${key.toString('base64')}`;
    const line = (id: string, timestamp: number, signature: string, text: string) =>
      [secret, id, timestamp, signature, Buffer.from(text).toString('base64')].join('\t');
    const cases: [boolean, string][] = [
      [true, line('msg_1', seconds, signed([key]), body)],
      [true, line('msg_1', seconds, signed([other, key]), body)],
      [false, line('msg_1', seconds, signed([other]), body)],
      [false, line('msg_2', seconds, signed([key]), body)],
      [false, line('msg_1', seconds, signed([key]), `${body} `)],
      [false, line('msg_1', seconds - 600, signed([key], seconds - 600), body)],
      [false, line('msg_1', seconds + 1, signed([key]), body)],
      [false, line('msg_1', seconds, 'v1,AAAA', body)],
      [false, line('msg_1', seconds, '', body)],
    ];
    const input = `${cases.map(([, text]) => text).join('\n')}\n`;
    let said = '';
    for (const [command = '', ...args] of commands) {
      const env = { ...process.env, GOCACHE: path.join(home.path, '.cache'), GOFLAGS: '-mod=mod' };
      said = execFileSync(command, args, { cwd: home.path, input, encoding: 'utf8', env });
    }
    expect(said.trim().split('\n')).toEqual(cases.map(([isTaken]) => String(isTaken)));
  },
);

function snippet(language: string): string {
  const found = new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(page)?.[1];
  if (!found) throw new Error(`docs/callbacks.md has no ${language}`);
  return found;
}

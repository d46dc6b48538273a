/** The console without script: what its markup alone lets people do. */
import { beforeAll, expect, test } from 'vitest';
import { webhookIdOf } from '../../../src/domain/ids.ts';
import { startRun } from '../../../src/reconciliation/runs/start-run.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { openConsoleSession, unescapeHtml } from '../../support/open-console-session.ts';

const env = closeAfterAll(await openConsoleEnvironment());
let admin: Awaited<ReturnType<typeof openConsoleSession>>;
beforeAll(async () => {
  await makeReport(env.context, env.today);
  admin = await openConsoleSession(env, 'admin');
});

/** The value of a tag's attribute; undefined without it. */
function attribute(tag: string, name: string): string | undefined {
  const match = new RegExp(` ${name}(?:="([^"]*)")?(?=[ >])`).exec(tag);
  return match ? unescapeHtml(match[1] ?? '') : undefined;
}

/** `/transactions/:id?platform`: one page stands for all that differ by an id, a day or a value. */
function shapeOf(address: string): string {
  const [path = '', query = ''] = address.split('?');
  const segments = path.split('/').map((one) => (/\d{2}|^cb_/.test(one) ? ':id' : one));
  return `${segments.join('/')}?${[...new URLSearchParams(query).keys()].sort().join('&')}`;
}

/** Every page that links lead to from the overview, one of each shape. */
async function walk(): Promise<{ address: string; status: number; html: string }[]> {
  const seen = new Set<string>();
  const queue = ['/'];
  const pages: { address: string; status: number; html: string }[] = [];
  while (queue.length > 0) {
    const address = queue.shift() ?? '';
    const { status, html, to } = await admin.get(address);
    if (to !== null) queue.unshift(to);
    else pages.push({ address, status, html });
    for (const [tag] of html.matchAll(/<a\b[^>]*>/g)) {
      const link = attribute(tag, 'href')?.split('#')[0] ?? '';
      if (!link.startsWith('/') || attribute(tag, 'download') !== undefined || seen.has(shapeOf(link))) continue;
      seen.add(shapeOf(link));
      queue.push(link);
    }
  }
  return pages;
}

test('every link leads to a page, and every form has a button that sends it to a route', async () => {
  const pages = await walk();
  expect(pages.length).toBeGreaterThan(50);
  expect(pages.filter(({ status }) => status !== 200).map(({ address, status }) => [address, status])).toEqual([]);
  const faults: string[] = [];
  let forms = 0;
  for (const { address, html } of pages) {
    for (const [form, tag = '', content = ''] of html.matchAll(/(<form\b[^>]*>)([\s\S]*?)<\/form>/g)) {
      forms++;
      const buttons = [...content.matchAll(/<button\b[^>]*>/g)].map(([one]) => one);
      if (buttons.length === 0) faults.push(`${address}: a form without a button: ${form.slice(0, 120)}`);
      for (const button of buttons) {
        const action = attribute(button, 'formaction') ?? attribute(tag, 'action');
        if (attribute(button, 'type') === 'button') faults.push(`${address}: a button that needs script`);
        if (!action?.startsWith('/')) faults.push(`${address}: a form that leads nowhere: ${tag}`);
        if (attribute(tag, 'method') !== 'post') continue;
        // refused for its token, so the route is there and nothing is done
        const away = await admin.send(action ?? '', { method: 'POST', body: new URLSearchParams({ form_token: 'x' }) });
        if (action !== '/language' && away.status !== 403) faults.push(`${address}: ${action} answers ${away.status}`);
      }
    }
    const targets = [...html.matchAll(/href="#([^"]*)"/g)].map(([, id = '']) => id);
    const missing = targets.filter((id) => !html.includes(` id="${id}"`));
    if (missing.length > 0) faults.push(`${address}: links within the page that lead nowhere: ${missing.join(', ')}`);
    if (/ on[a-z]+="|"javascript:/.test(html)) faults.push(`${address}: an attribute that needs script`);
  }
  expect(faults).toEqual([]);
  expect(forms).toBeGreaterThan(100);
});

test('an accountant, who sees names, has no button that only an operator may press', async () => {
  const { db } = env.context;
  const accountant = await openConsoleSession(env, 'accountant');
  const callback = await db.selectFrom('callbacks').select('seq').executeTakeFirstOrThrow();
  const webhook = await db.selectFrom('webhooks').select('hash').executeTakeFirstOrThrow();
  for (const address of [`/callbacks/cb_${callback.seq}`, `/inbox/${webhookIdOf(webhook.hash)}`]) {
    const [theirs, admins] = [await accountant.get(address), await admin.get(address)];
    const actions = ({ html }: { html: string }) =>
      [...html.matchAll(/ action="([^"]+)"/g)].map(([, action]) => action);
    expect(actions(admins)).toHaveLength(actions(theirs).length + 1);
    for (const action of actions(theirs)) expect(['/transactions', '/logout', '/language']).toContain(action);
  }
});

test('the overview counts the mismatches that its links list, those that somebody works on too', async () => {
  const { db, clock } = env.context;
  const set = { state: 'acknowledged', acknowledged_at: clock.now() };
  await db.updateTable('mismatches').set(set).where('state', '=', 'open').execute();
  const overview = await admin.get('/');
  const row = /<a href="([^"]+)">Valor mudou<\/a>[\s\S]*?data-label="Quantas"[^>]*><div>(\d+)/.exec(overview.html);
  const [, link = '', count = ''] = row ?? [];
  const listed = await admin.get(unescapeHtml(link));
  expect(listed.html.match(/<a href="\/mismatches\/mm_/g)).toHaveLength(Number(count));
  expect(overview.html).toMatch(/em aberto[^<]*<\/span> <a class="todo" href="\/mismatches">/);
});

test('a page that renews itself does so without script too, unless people type in it', async () => {
  const run = await startRun(env.context, { from: env.today, to: env.today, trigger: 'api', createdBy: 'admin' });
  const renews = '<noscript><meta http-equiv="refresh" content="10"></noscript>';
  expect((await admin.get(`/reconciliations/${run.id}`)).html).toContain(renews);
  expect((await admin.get('/')).html).toContain(renews.replace('10', '60'));
  const inbox = await admin.get('/inbox');
  expect(inbox.html).toContain('data-refresh-s');
  expect(inbox.html).not.toContain('http-equiv="refresh"');
  expect(inbox.html).toContain('<noscript><p class="hint"><a href="/inbox">Recarregar a página</a></p></noscript>');
  expect((await admin.get('/reports')).html).not.toContain('<noscript>');
});

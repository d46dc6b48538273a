import { randomBytes } from 'node:crypto';
import { formatCents } from '../../domain/money.ts';
import { isOpen } from '../../domain/statuses.ts';
import type { StoredTransaction } from '../../store/tables.ts';
import { brCodeOf, qrImageOf } from '../present-transaction.ts';

/** pt-BR words for a status. */
const STATUS_WORDS: Record<string, string> = {
  pending: 'Aguardando pagamento',
  paid: 'Pago',
  denied: 'Negado',
  canceled: 'Cancelado',
  refund: 'Devolvido',
  in_process: 'Em processamento',
  in_analysis: 'Em análise',
  expired: 'Expirado',
  partially_paid: 'Pago em parte',
};

/** Renders the page where a person pays, expires or cancels, with its content policy. Pure, apart from a nonce. */
export function renderCheckout(transaction: StoredTransaction): { html: string; policy: string } {
  const nonce = randomBytes(16).toString('base64');
  const policy = `default-src 'none'; img-src data:; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;
  const words = STATUS_WORDS[transaction.status] ?? transaction.status;
  const html = `<!doctype html>
<html lang="pt-BR">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pagamento PIX · ${reais(transaction.amount_cents)}</title>
<style nonce="${nonce}">${STYLE}</style>
</head>
<body>
<main>
<p class="note">Ambiente de testes: nenhum dinheiro é movimentado.</p>
<h1>${transaction.operation === 'cashin' ? 'Pague com PIX' : 'Pagamento PIX'}</h1>
<p class="amount">${reais(transaction.amount_cents)}</p>
<p>${escapeHtml(transaction.description)}</p>
<p>Situação: <strong id="status" role="status" aria-live="polite" data-status="${escapeHtml(transaction.status)}">${escapeHtml(words)}</strong></p>
${transaction.operation === 'cashin' && isOpen(transaction.status) ? payment(transaction) : ''}
${actions(transaction)}
<p class="id">${transaction.id}</p>
</main>
<script nonce="${nonce}">${SCRIPT}</script>
</body>
</html>
`;
  return { html, policy };
}

function payment(transaction: StoredTransaction): string {
  const code = brCodeOf(transaction);
  return `<img src="${qrImageOf(code)}" width="280" height="280" alt="QR code do PIX">
<label for="code">PIX copia e cola</label>
<textarea id="code" readonly rows="4">${escapeHtml(code)}</textarea>
<button type="button" id="copy">Copiar código</button>`;
}

const ACTIONS: Record<string, ReadonlyArray<readonly [status: string, label: string]>> = {
  open: [
    ['paid', 'Pagar'],
    ['expired', 'Deixar expirar'],
    ['canceled', 'Cancelar'],
  ],
  paid: [['refund', 'Devolver']],
};

function actions({ id, status }: StoredTransaction): string {
  const offered = ACTIONS[isOpen(status) ? 'open' : status] ?? [];
  const forms = offered.map(
    ([to, label]) => `<form method="post" action="${id}/change/${to}"><button data-to="${to}">${label}</button></form>`,
  );
  return forms.length === 0 ? '' : `<div class="actions">${forms.join('\n')}</div>`;
}

function reais(cents: bigint): string {
  const [whole = '0', hundredths = '00'] = formatCents(cents).split('.');
  return `R$ ${whole.replace(/\B(?=(\d{3})+$)/g, '.')},${hundredths}`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const STYLE = `
body{font:16px/1.5 system-ui,sans-serif;margin:0;background:#f4f6f5;color:#16211d}
main{max-width:26rem;margin:2rem auto;padding:1.5rem;background:#fff;border-radius:12px;box-shadow:0 1px 6px #0002;text-align:center;overflow-wrap:anywhere}
h1{font-size:1.25rem;margin:.5rem 0}
.amount{font-size:2rem;font-weight:700;margin:.25rem 0}
.note{font-size:.85rem;color:#7a4b00;background:#fff4dc;border-radius:6px;padding:.4rem}
.id{font:12px monospace;color:#5a6a64}
img{display:block;margin:1rem auto;image-rendering:pixelated;max-width:100%}
label{display:block;font-weight:600}
textarea{width:100%;box-sizing:border-box;font:13px monospace;margin:.5rem 0;resize:vertical}
button{font:inherit;padding:.55rem 1rem;border:1px solid #0b6b50;border-radius:8px;background:#fff;color:#0b6b50;cursor:pointer}
#copy,button[data-to=paid]{background:#0b6b50;color:#fff}
button:focus-visible,textarea:focus-visible{outline:3px solid #1d4ed8;outline-offset:2px}
.actions{display:flex;flex-wrap:wrap;gap:.5rem;justify-content:center;margin-top:1rem}
form{margin:0}
@media (prefers-color-scheme:dark){body{background:#0f1513;color:#e7efec}main{background:#18211e}textarea{background:#0f1513;color:inherit}.id{color:#93a59e}button{background:transparent;color:#7fd3b8;border-color:#7fd3b8}#copy,button[data-to=paid]{background:#0b6b50;color:#fff}img{background:#fff}}
`;

const SCRIPT = `
const shown = document.getElementById('status');
const copy = document.getElementById('copy');
if (copy) copy.addEventListener('click', async () => {
  const code = document.getElementById('code');
  try { await navigator.clipboard.writeText(code.value); }
  catch { code.select(); document.execCommand('copy'); }
  copy.textContent = 'Código copiado';
});
setInterval(async () => {
  if (document.hidden) return;
  try {
    const answer = await fetch(location.pathname.replace(/\\/$/, '') + '/status');
    const { status } = await answer.json();
    if (answer.ok && status !== shown.dataset.status) location.reload();
  } catch {}
}, 2000);
`;

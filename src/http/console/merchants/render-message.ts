import { MASKED } from '../../../merchants/request-headers.ts';
import { t, untranslated } from '../../../texts/translate.ts';
import { type Html, html, tHtml } from '../parts/html.ts';
import { facts } from '../parts/page-components.ts';

/**
 * A callback's message: its body as it would be sent now, the headers of the last attempt, and a script that signs and
 * sends it. For roles that see personal data.
 * @param body undefined if it cannot be rendered.
 */
export function renderMessage(
  webhookId: string,
  body: object | undefined,
  headers: Record<string, string> | undefined,
): Html {
  if (body === undefined)
    return html`<section><h2>${t('Mensagem')}</h2><p class="empty">${t('Não pode ser montada: o razão não tem o evento dela.')}</p></section>`;
  return html`<section><h2>${t('Mensagem')}</h2>
<p class="hint">${t('O corpo é montado agora, com os dados atuais; o de uma tentativa anterior pode ter sido outro. A assinatura não é guardada.')}</p>
<pre class="raw" tabindex="0" aria-label="${t('Corpo')}">${JSON.stringify(body, null, 2)}</pre>
${
  headers
    ? html`<h3>${t('Cabeçalhos da última tentativa')}</h3>${facts(
        Object.entries(headers).map(([name, value]) => [untranslated(name), html`<code>${value}</code>`] as const),
      )}`
    : undefined
}
<details class="numbers"><summary>${t('Assinar e enviar com openssl e curl')}</summary>
<p class="hint">${tHtml('Preencha o segredo e o endereço. O script mostra a assinatura de <code>id.timestamp.{body}</code>: o sistema que recebe calcula a mesma e a compara com o cabeçalho <code>webhook-signature</code>. Enquanto roda, o segredo aparece na lista de processos (<code>ps</code>): use um computador só seu.', { body: t('corpo') })}</p>
<pre class="raw" tabindex="0" aria-label="${t('Comandos para assinar e enviar')}">${writeScript(webhookId, JSON.stringify(body), headers ?? {})}</pre></details></section>`;
}

/** Commands of a shell that sign a body as we do (Standard Webhooks), print the signature and send it. */
function writeScript(webhookId: string, body: string, recorded: Record<string, string>): string {
  const masked = Object.entries(recorded).filter(([, value]) => value.endsWith(MASKED));
  const own = masked.map(([name, value]) => ` -H '${name}: ${value.replace(MASKED, '…')}'`).join('');
  return `SECRET='whsec_…'
ADDRESS='https://…'
ID='${webhookId}'
TIMESTAMP=$(date +%s)
BODY='${body.replaceAll("'", "'\\''")}'
KEY=$(printf %s "\${SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \\n')
SIGNATURE="v1,$(printf %s "$ID.$TIMESTAMP.$BODY" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$KEY" -binary | openssl base64 -A)"
echo "$SIGNATURE"
curl -i "$ADDRESS" -H 'content-type: application/json' -H "webhook-id: $ID" -H "webhook-timestamp: $TIMESTAMP" -H "webhook-signature: $SIGNATURE"${own} --data-raw "$BODY"
`;
}

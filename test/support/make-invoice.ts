/** Invoices (NF-e 4.00) as a program sends them to SEFAZ, valid by its schemas; nobody signed them. */

export type MadeInvoice = {
  /** Nine digits at most; the key follows from it. */
  number?: number;
  /** Letters too, with check digits. */
  issuer?: string;
  model?: '55' | '65';
  /** tpNF: 0 came in, 1 went out. */
  direction?: '0' | '1';
  /** finNFe: 4 is a return. */
  purpose?: '1' | '4';
  issuedAt?: string;
  dues?: string[];
  payments?: { tag: string; amount: string; authorization?: string }[];
  /** CPF or CNPJ of who is to pay. */
  document?: string;
  name?: string;
  /** xPed of the whole invoice. */
  order?: string;
  /** cStat of its protocol; null: it has none. */
  status?: string | null;
};

const NAMESPACE = 'http://www.portalfiscal.inf.br/nfe';
const DIGEST = Buffer.alloc(20).toString('base64');
const ISSUER = '14200166000187';

/** The access key of an invoice, with its check digit. */
export function keyOfInvoice({ number = 1, issuer = ISSUER, model = '55' }: MadeInvoice = {}): string {
  const body = `352611${issuer}${model}001${String(number).padStart(9, '0')}112345678`;
  let sum = 0;
  for (let at = body.length - 1, weight = 2; at >= 0; at--, weight = weight === 9 ? 2 : weight + 1)
    sum += (body.charCodeAt(at) - 48) * weight;
  const rest = sum % 11;
  return `${body}${rest < 2 ? 0 : 11 - rest}`;
}

const tag = (name: string, value: string | undefined): string =>
  value === undefined ? '' : `<${name}>${value.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</${name}>`;

export function makeInvoice(made: MadeInvoice = {}): string {
  const { number = 1, issuer = ISSUER, model = '55', direction = '1', purpose = '1', status = '100' } = made;
  const { issuedAt = '2026-11-20T10:30:00-03:00', dues = [], document = '52998224725', name = 'MARIA SOUZA' } = made;
  const { payments = [{ tag: '17', amount: '199.90' }], order } = made;
  const key = keyOfInvoice(made);
  const total = '199.90';
  const address =
    '<xLgr>RUA A</xLgr><nro>1</nro><xBairro>CENTRO</xBairro><cMun>3550308</cMun><xMun>SAO PAULO</xMun><UF>SP</UF>';
  const zeros = (names: string) =>
    names
      .split(' ')
      .map((one) => tag(one, '0.00'))
      .join('');
  const invoice = `<NFe xmlns="${NAMESPACE}"><infNFe versao="4.00" Id="NFe${key}">
<ide><cUF>35</cUF><cNF>12345678</cNF><natOp>VENDA</natOp><mod>${model}</mod><serie>1</serie><nNF>${number}</nNF><dhEmi>${issuedAt}</dhEmi><tpNF>${direction}</tpNF><idDest>1</idDest><cMunFG>3550308</cMunFG><tpImp>1</tpImp><tpEmis>1</tpEmis><cDV>${key.slice(-1)}</cDV><tpAmb>2</tpAmb><finNFe>${purpose}</finNFe><indFinal>1</indFinal><indPres>2</indPres><procEmi>0</procEmi><verProc>1</verProc></ide>
<emit>${tag('CNPJ', issuer)}<xNome>LOJA LTDA</xNome><enderEmit>${address}<CEP>01001000</CEP></enderEmit><IE>111111111111</IE><CRT>1</CRT></emit>
<dest>${tag(document.length === 11 ? 'CPF' : 'CNPJ', document)}${tag('xNome', name)}<enderDest>${address}</enderDest><indIEDest>9</indIEDest></dest>
<det nItem="1"><prod><cProd>1</cProd><cEAN>SEM GTIN</cEAN><xProd>CAMISETA</xProd><NCM>61091000</NCM><CFOP>5102</CFOP><uCom>UN</uCom><qCom>1</qCom><vUnCom>${total}</vUnCom><vProd>${total}</vProd><cEANTrib>SEM GTIN</cEANTrib><uTrib>UN</uTrib><qTrib>1</qTrib><vUnTrib>${total}</vUnTrib><indTot>1</indTot></prod><imposto><ICMS><ICMSSN102><orig>0</orig><CSOSN>102</CSOSN></ICMSSN102></ICMS><PIS><PISNT><CST>07</CST></PISNT></PIS><COFINS><COFINSNT><CST>07</CST></COFINSNT></COFINS></imposto></det>
<total><ICMSTot>${zeros('vBC vICMS vICMSDeson vFCP vBCST vST vFCPST vFCPSTRet')}${tag('vProd', total)}${zeros('vFrete vSeg vDesc vII vIPI vIPIDevol vPIS vCOFINS vOutro')}${tag('vNF', total)}</ICMSTot></total>
<transp><modFrete>9</modFrete></transp>
${dues.length === 0 ? '' : `<cobr>${dues.map((due, at) => `<dup><nDup>${String(at + 1).padStart(3, '0')}</nDup><dVenc>${due}</dVenc><vDup>10.00</vDup></dup>`).join('')}</cobr>`}
<pag>${payments
    .map(
      (one) =>
        `<detPag>${tag('tPag', one.tag)}${tag('vPag', one.amount)}${one.authorization === undefined ? '' : `<card><tpIntegra>2</tpIntegra>${tag('cAut', one.authorization)}</card>`}</detPag>`,
    )
    .join('')}</pag>
${order === undefined ? '' : `<compra>${tag('xPed', order)}</compra>`}
</infNFe>${sign(`NFe${key}`)}</NFe>`;
  if (status === null) return `<?xml version="1.0" encoding="UTF-8"?>\n${invoice}`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<nfeProc xmlns="${NAMESPACE}" versao="4.00">${invoice}<protNFe versao="4.00"><infProt><tpAmb>2</tpAmb><verAplic>SP</verAplic><chNFe>${key}</chNFe><dhRecbto>2026-11-20T10:31:00-03:00</dhRecbto><nProt>135260000000001</nProt><digVal>${DIGEST}</digVal><cStat>${status}</cStat><xMotivo>Autorizado o uso da NF-e</xMotivo></infProt></protNFe></nfeProc>`;
}

/** The event by which an invoice is cancelled, with SEFAZ's answer. */
export function makeCancellation(made: MadeInvoice & { type?: string; answer?: string } = {}): string {
  const { type = '110111', answer = '135', issuer = ISSUER } = made;
  const key = keyOfInvoice(made);
  const id = `ID${type}${key}01`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<procEventoNFe xmlns="${NAMESPACE}" versao="1.00"><evento versao="1.00"><infEvento Id="${id}"><cOrgao>35</cOrgao><tpAmb>2</tpAmb>${tag('CNPJ', issuer)}<chNFe>${key}</chNFe><dhEvento>2026-11-21T09:00:00-03:00</dhEvento><tpEvento>${type}</tpEvento><nSeqEvento>1</nSeqEvento><verEvento>1.00</verEvento><detEvento versao="1.00"><descEvento>Cancelamento</descEvento><nProt>135260000000001</nProt><xJust>DESISTENCIA DO CLIENTE</xJust></detEvento></infEvento>${sign(id)}</evento><retEvento versao="1.00"><infEvento><tpAmb>2</tpAmb><verAplic>SP</verAplic><cOrgao>35</cOrgao><cStat>${answer}</cStat><xMotivo>Evento registrado</xMotivo><chNFe>${key}</chNFe><tpEvento>${type}</tpEvento><xEvento>Cancelamento</xEvento><nSeqEvento>1</nSeqEvento><dhRegEvento>2026-11-21T09:00:01-03:00</dhRegEvento><nProt>135260000000002</nProt></infEvento></retEvento></procEventoNFe>`;
}

function sign(id: string): string {
  return `<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"><SignedInfo><CanonicalizationMethod Algorithm="http://www.w3.org/TR/2001/REC-xml-c14n-20010315"/><SignatureMethod Algorithm="http://www.w3.org/2000/09/xmldsig#rsa-sha1"/><Reference URI="#${id}"><Transforms><Transform Algorithm="http://www.w3.org/2000/09/xmldsig#enveloped-signature"/><Transform Algorithm="http://www.w3.org/TR/2001/REC-xml-c14n-20010315"/></Transforms><DigestMethod Algorithm="http://www.w3.org/2000/09/xmldsig#sha1"/><DigestValue>${DIGEST}</DigestValue></Reference></SignedInfo><SignatureValue>AAAA</SignatureValue><KeyInfo><X509Data><X509Certificate>AAAA</X509Certificate></X509Data></KeyInfo></Signature>`;
}

import type { Random } from '../domain/random.ts';
import { cnpjCheckDigits, cpfCheckDigits } from '../pix/check-document.ts';

const FIRST =
  'Ana,Antônio,Beatriz,Bruno,Camila,Carlos,Cauê,Conceição,Daniela,Davi,Débora,Eduardo,Elaine,Fábio,Fernanda,Francisca,Gabriel,Giovana,Helena,Heitor,Ícaro,Inês,Jéssica,João,José,Júlia,Larissa,Léo,Luís,Luíza,Marcelo,Márcia,Maria,Matheus,Mônica,Noêmia,Otávio,Patrícia,Paulo,Pedro,Rafael,Raimundo,Renata,Rosângela,Sebastião,Simone,Tânia,Thiago,Vitória,Zilda'.split(
    ',',
  );
const LAST =
  'Albuquerque,Almeida,Alves,Araújo,Assunção,Azevedo,Barbosa,Batista,Borges,Brandão,Cardoso,Carvalho,Cavalcanti,Conceição,Costa,Cunha,Dias,Duarte,Falcão,Farias,Fernandes,Ferreira,Figueirôa,Freitas,Gomes,Gonçalves,Guimarães,Lima,Lopes,Machado,Magalhães,Martins,Melo,Mendes,Monteiro,Moraes,Moreira,Nascimento,Nogueira,Oliveira,Pereira,Ramos,Ribeiro,Rocha,Rodrigues,Santos,Silva,Souza,Teixeira,Vieira,Yamashita'.split(
    ',',
  );
const TRADES = 'Padaria,Mercado,Farmácia,Oficina,Papelaria,Livraria,Ótica,Confecções,Transportes,Distribuidora'.split(
  ',',
);
const MAILS = ['exemplo.com.br', 'correio.example', 'caixa.example', 'loja.example'];
const AREAS = [11, 12, 19, 21, 27, 31, 34, 41, 47, 48, 51, 61, 62, 65, 67, 71, 79, 81, 84, 85, 91, 92, 98];
const DIGITS = '0123456789';
const ALPHANUMERIC = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';

export type Person = { name: string; email: string; phone: string; document: string; documentType: 'CPF' | 'CNPJ' };

/** Generates a payer or payee: a Brazilian name, a document with its check digits, a mobile phone, an e-mail. */
export function makePerson(random: Random): Person {
  const isCompany = random.chance(0.12);
  const surname = random.pick(LAST);
  const first = random.pick(FIRST);
  const name = isCompany ? `${random.pick(TRADES)} ${surname} Ltda` : `${first} ${random.pick(LAST)} ${surname}`;
  const mailbox = `${plain(first)}.${plain(surname)}${random.int(1, 9_999)}`;
  return {
    name,
    email: `${mailbox}@${random.pick(MAILS)}`,
    phone: `+55${random.pick(AREAS)}9${random.text(DIGITS, 8)}`,
    document: isCompany ? makeCnpj(random) : makeCpf(random),
    documentType: isCompany ? 'CNPJ' : 'CPF',
  };
}

function makeCpf(random: Random): string {
  const base = random.text(DIGITS, 9);
  // a document of equal digits has valid check digits but is never issued
  return /^(.)\1*$/.test(base) ? makeCpf(random) : base + cpfCheckDigits(base);
}

function makeCnpj(random: Random): string {
  const root = random.text(random.chance(0.2) ? ALPHANUMERIC : DIGITS, 8);
  return `${root}0001${cnpjCheckDigits(`${root}0001`)}`;
}

function plain(name: string): string {
  return name
    .normalize('NFD')
    .replace(/[^a-z]/gi, '')
    .toLowerCase();
}

const POLYNOMIAL = 0x1021;
const NAME_LENGTH_MAX = 25;
const CITY_LENGTH_MAX = 15;

export type BrCodeCharge = {
  /** address of the charge for the payer's bank, without scheme, at most 77 characters */
  location: string;
  /** decimal text with a dot */
  amount: string;
  /** name of the payee; truncated to the limit of the standard */
  name: string;
  city: string;
};

/** Returns the text of a dynamic PIX charge: EMV tag-length-value fields with a checksum at the end. */
export function writeBrCode(charge: BrCodeCharge): string {
  const account = field('00', 'br.gov.bcb.pix') + field('25', charge.location);
  const body = [
    field('00', '01'),
    field('01', '12'), // can be paid once
    field('26', account),
    field('52', '0000'),
    field('53', '986'), // ISO 4217 number of the real
    field('54', charge.amount),
    field('58', 'BR'),
    field('59', plain(charge.name, NAME_LENGTH_MAX)),
    field('60', plain(charge.city, CITY_LENGTH_MAX)),
    field('62', field('05', '***')),
    '6304',
  ].join('');
  return body + crc16(body);
}

/** Returns CRC-16/CCITT-FALSE of the text's UTF-8 bytes as four uppercase hexadecimal digits. */
export function crc16(text: string): string {
  let crc = 0xffff;
  for (const byte of Buffer.from(text, 'utf8')) crc = ((crc << 8) ^ (CRC_TABLE[(crc >> 8) ^ byte] ?? 0)) & 0xffff;
  return crc.toString(16).toUpperCase().padStart(4, '0');
}

const CRC_TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ POLYNOMIAL : crc << 1;
  return crc & 0xffff;
});

function field(id: string, value: string): string {
  if (value.length > 99) throw new RangeError(`BR Code field ${id} holds at most 99 characters`);
  return `${id}${String(value.length).padStart(2, '0')}${value}`;
}

// Accents make lengths ambiguous (bytes or characters?), so banks print names without them.
function plain(text: string, lengthMax: number): string {
  const bare = text.normalize('NFD').replace(/[^\x20-\x7e]/g, '');
  return bare.slice(0, lengthMax).trim() || 'SANDBOX';
}

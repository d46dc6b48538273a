/**
 * Characters that people cannot see, and that change what they read: marks that turn the direction of writing, characters
 * without a width, control characters. Ends of lines and tabs stay, and so do joiners and variation selectors of an emoji.
 */
const UNSEEN =
  /(?![\t\n\r]|(?<=\p{ExtPict})(?:\uFE0E|\uFE0F)|(?<=[0-9#*])\uFE0F(?=\u20E3)|(?<=\p{ExtPict}|\p{EMod}|\uFE0F)\u200D(?=\p{ExtPict}))[\p{DI}\p{Cc}\p{Zl}\p{Zp}\uFFF9-\uFFFB]/gu;

/** Returns a text for people: each of these characters is `⟨U+202E⟩`, with its code point. */
export function showUnseen(text: string): string {
  return text.replace(UNSEEN, (one) => {
    const code = (one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return `⟨U+${code}⟩`;
  });
}

/** A text whose quoted phrases are replaced by `⟦0⟧`, `⟦1⟧`, …, so that no rule is read in them. */
export type MaskedText = {
  text: string
  /** The phrases without quotes. */
  phrases: readonly string[]
  /** The phrases as they were written. */
  written: readonly string[]
}

const phrase_chars_max = 160
const inside = (last: string) => `([^${last}\\n]{1,${phrase_chars_max}})`

/** Pairs of quotes. An apostrophe inside a word is not a quote. */
const quoted = new RegExp(
  [
    `„${inside('“”"')}[“”"]`,
    `"${inside('"')}"`,
    `“${inside('”')}”`,
    `\`${inside('`')}\``,
    `«${inside('»')}»`,
    `»${inside('«')}«`,
    `‚${inside('‘’')}[‘’]`,
    `「${inside('」')}」`,
    `『${inside('』')}』`,
    `(?<![\\p{L}\\p{N}])['‘]((?:[^'’\\n]|(?<=\\p{L})['’](?=\\p{L})){1,${phrase_chars_max}})['’](?![\\p{L}\\p{N}])`,
  ].join('|'),
  'gu',
)

const abbreviated = /(?<!\p{L})(max|min|máx|mín|approx|ca|env|incl|excl|u|z|p)\.(?=\s?[\p{L}\d])/giu

/** Replaces quoted phrases by numbered marks. */
export function maskQuotes(text: string): MaskedText {
  const phrases: string[] = []
  const written: string[] = []
  // The full stop of an abbreviation ends no sentence.
  const plain = text.replace(abbreviated, '$1\u2024')
  const masked = plain.replace(quoted, (whole, ...groups) => {
    const phrase = groups.find((group): group is string => typeof group === 'string') ?? ''
    written.push(whole)
    return `⟦${phrases.push(phrase.replace(/(?:\.\.\.|…)\s*$/, '').trim()) - 1}⟧`
  })
  // A quoted sentence can end the sentence around it.
  const split = masked.replace(/⟦(\d+)⟧ (?=\p{Lu})/gu, (mark, at) =>
    /[.!?…。]$/.test(phrases[Number(at)] ?? '') ? `${mark.trim()}\n` : mark,
  )
  return { text: split, phrases, written }
}

/** Returns a part of a masked text with its quotes as they were written. */
export function unmaskQuotes(part: string, { written }: MaskedText): string {
  return part.replace(/\u2024/g, '.').replace(/⟦(\d+)⟧/g, (_mark, at) => written[Number(at)] ?? '')
}

/** Returns the marked phrases of a part, in order. */
export function phrasesIn(part: string, phrases: readonly string[]): string[] {
  return [...part.matchAll(/⟦(\d+)⟧/g)].flatMap(([, at]) => phrases[Number(at)] ?? [])
}

import { maskQuotes } from '../sentence/quotes.ts'
import { numberOf } from '../vocabulary/amounts.ts'

/**
 * Returns the features of a sentence, each once: its words, the beginnings of long ones, pairs of neighbours, and pairs
 * with a word between. All numbers are the same word, and so are all quoted phrases. A Chinese or Japanese character is
 * a word.
 */
export function featuresOf(sentence: string): Set<string> {
  const words = wordsIn(sentence)
  const features = new Set<string>()
  let before = '^'
  for (const [at, word] of words.entries()) {
    features.add(word)
    features.add(`${before}_${word}`)
    if (word.length > stem_chars && /^\p{L}+$/u.test(word))
      features.add(`${word.slice(0, stem_chars)}*`)
    const next = words[at + 2]
    if (next !== undefined) features.add(`${word}__${next}`)
    before = word
  }
  return features
}

const stem_chars = 5
const words_max = 80

function wordsIn(sentence: string): string[] {
  const { text, phrases } = maskQuotes(sentence.replace(/\*\*|__/g, '').replaceAll('’', "'"))
  const words = text.toLowerCase().match(word) ?? []
  return words.slice(0, words_max).map((said) => {
    const mark = /^⟦(\d+)⟧$/.exec(said)?.[1]
    if (mark !== undefined) return kindOfPhrase(phrases[Number(mark)] ?? '')
    return !articles.has(said) && numberOf(said) !== undefined ? '#' : said
  })
}

const word =
  /⟦\d+⟧|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|\d+(?:[.,]\d+)*|[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]+(?:'[\p{Script=Latin}]+)*|[^\s\p{L}\p{N}]/gu

const articles = new Set([
  'a',
  'an',
  'un',
  'une',
  'una',
  'uno',
  'ein',
  'eine',
  'einen',
  'einem',
  'einer',
])

function kindOfPhrase(phrase: string): string {
  if (/^[^\p{L}\p{N}]{1,3}$/u.test(phrase)) return '⟦sign⟧'
  return /^\p{L}$/u.test(phrase) ? '⟦letter⟧' : '⟦phrase⟧'
}

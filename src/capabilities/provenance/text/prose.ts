/** Maximum characters read of a message or an answer. */
const prose_chars_max = 16_384
const sentences_max = 400
const sentence_chars_max = 400

/** Returns a text without fenced code. */
export function proseOf(text: string): string {
  const cut = text.slice(0, prose_chars_max)
  if (!cut.includes('```')) return cut
  // Every second part between fences is code, even if the last fence never closes.
  return cut
    .split('```')
    .filter((_part, at) => at % 2 === 0)
    .join('\n')
}

/** Returns the prose without `inline code` and "quoted" parts: the writer's own words. */
export function ownVoiceOf(text: string): string {
  return proseOf(text)
    .replace(/`[^`\n]{1,200}`/g, ' ')
    .replace(/"[^"\n]{1,200}"/g, ' ')
    .replace(/„[^“”\n]{1,200}[“”]/g, ' ')
    .replace(/“[^”\n]{1,200}”/g, ' ')
    .replace(/«[^»\n]{1,200}»/g, ' ')
    .replace(/(?<![\p{L}\p{N}])['‘][^'’\n]{1,200}['’](?![\p{L}\p{N}])/gu, ' ')
    .replace(/^>.*$/gm, ' ')
}

/** Returns the sentences of a prose without leading bullets and numbers; long sentences are cut. */
export function sentencesOf(prose: string): string[] {
  const found: string[] = []
  for (const line of prose.split('\n')) {
    for (const part of splitSentences(line)) {
      const sentence = part.replace(/^\s*(?:[-*•>#]+|\(?\d{1,2}[.)])\s+/, '').trim()
      if (sentence === '') continue
      found.push(sentence.slice(0, sentence_chars_max))
      if (found.length >= sentences_max) return found
    }
  }
  return found
}

const abbreviations = new Set(
  'mr mrs ms dr prof st no nr vs etc e.g i.e eg ie approx inc ltd jr sr fig z.b bzw ca'.split(' '),
)

/** Splits a line at `.`, `!` and `?` that end a sentence. */
function splitSentences(line: string): string[] {
  const parts: string[] = []
  let from = 0
  for (const match of line.matchAll(/[.!?…。！？]+["'”’)\]]*(?=\s|$)|[。！？]/gu)) {
    const end = match.index + match[0].length
    if (match[0] === '.' && endsInAbbreviation(line.slice(from, match.index))) continue
    parts.push(line.slice(from, end))
    from = end
  }
  parts.push(line.slice(from))
  return parts
}

function endsInAbbreviation(before: string): boolean {
  const word = /([\p{L}.]{1,8}|\d{1,3})$/u.exec(before)?.[1]?.toLowerCase() ?? ''
  if (/^\d+$/.test(word)) return before.trim() === word
  return abbreviations.has(word) || /^(?:\p{L}\.)*\p{L}$/u.test(word)
}

/** Returns the words of a text in lower case, including numbers. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+(?:['’.-][\p{L}\p{N}]+)*/gu) ?? []
}

/** Tells whether `text` contains `phrase` as whole words, ignoring case; linear. */
export function mentions(text: string, phrase: string): boolean {
  return findPhrase(text, phrase) !== -1
}

/** Returns the position of `phrase` in `text` as whole words; -1 if absent. */
export function findPhrase(text: string, phrase: string): number {
  const low = text.toLowerCase()
  const wanted = phrase.toLowerCase()
  if (wanted === '') return -1
  for (let at = low.indexOf(wanted); at !== -1; at = low.indexOf(wanted, at + 1)) {
    if (!isLetter(low[at - 1]) && !isLetter(low[at + wanted.length])) return at
  }
  return -1
}

function isLetter(char: string | undefined): boolean {
  return char !== undefined && /[\p{L}\p{N}_]/u.test(char)
}

/** Maximum different words of a text in a comparison. */
const tokens_max = 1024

/**
 * Returns the set of words of a text (letters, digits and underscores of any script, in lower
 * case): the first `tokens_max` different ones.
 */
export function toTokenSet(text: string): ReadonlySet<string> {
  const tokens = new Set<string>()
  for (const [token] of text.toLowerCase().matchAll(/[\p{L}\p{N}_]+/gu)) {
    tokens.add(token)
    if (tokens.size >= tokens_max) break
  }
  return tokens
}

/** Returns the shared tokens divided by all tokens of both, 0–1; 1 for two empty sets. */
export function getJaccard(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  if (one.size === 0 && other.size === 0) return 1
  const [small, large] = one.size <= other.size ? [one, other] : [other, one]
  let shared = 0
  for (const token of small) if (large.has(token)) shared++
  return shared / (one.size + other.size - shared)
}

/** Normalises case, white space and the final punctuation of a text. */
export function toPlainText(text: string): string {
  const plain = text.toLowerCase().replace(/\s+/g, ' ').trim()
  return plain.replace(/[.!?…]{1,8}$/, '')
}

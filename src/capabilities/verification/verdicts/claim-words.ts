import { grammarWords, isAscii, type Token, tokenize } from '../../provenance/text/index.ts'

const negations = new Set(
  (
    'not,no,never,none,neither,nor,without,cannot,nobody,nothing,nowhere,hardly,unless,except,' +
    'prohibited,forbidden,false,wrong,untrue,denied,deny,' +
    'nicht,kein,keine,keinen,keinem,keiner,nie,niemals,ohne,pas,jamais,sans,aucun,aucune,' +
    'nunca,jamas,sin,ningun,ninguna,tampoco'
  ).split(','),
)

/** Words that limit the meaning of their sentence. */
const qualifiers = new Set(
  (
    'whether ask asks asked wonder wonders ob if only unless except until before after when provided otherwise however but although ' +
    'formerly previously archived planned proposed alleged claim rumour myth example wenn nur ' +
    'falls bis sofern si seulement sauf solo salvo instead old often ascribed ' +
    'allegedly former alt fruher bisher ancien antes'
  ).split(' '),
)

/** Words of a text that change what the other words say. */
export interface Wording {
  /** It denies something: an odd number of negating words. */
  readonly isNegated: boolean
  /** It has a negating word, also twice. */
  readonly hasNegation: boolean
  /** It has a word that limits what it says. */
  readonly hasQualifier: boolean
}

/** Reads the words of a text that deny or limit what it says. */
export function readWording(text: string): Wording {
  const words = wordsOf(text)
  const negating = words.filter((word) => negations.has(word)).length + countNegatingParts(text)
  return {
    isNegated: negating % 2 === 1,
    hasNegation: negating > 0,
    hasQualifier: words.some((word) => qualifiers.has(word)),
  }
}

/** Reports whether a text denies something: an odd number of negating words. */
export function isNegated(text: string): boolean {
  return readWording(text).isNegated
}

/** Counts parts of words that negate them: `isn't`, `non-smoking`, `duty-free`. */
function countNegatingParts(text: string): number {
  const contracted = text.match(/\p{L}n['’]t(?!\p{L})/gu)?.length ?? 0
  if (!text.includes('-')) return contracted
  const parts = text.match(/(?<!\p{L})non-\p{L}|\p{L}-free(?!\p{L})/giu)?.length ?? 0
  return contracted + parts
}

/** A yes-or-no question, also one without a question mark, as in headings. */
const question =
  /[?？؟]["'”’»)\]*_]*\s*$|^\W{0,4}(?:is|are|does|can|will|did|was|were|has|should|could|would|may) (?!not)[^.!]*[^.!\s]\s*$/iu

/** Reports whether a sentence asks: it states nothing. */
export function isQuestion(sentence: string): boolean {
  return question.test(sentence)
}

/** Reports whether a text has a word that limits what it says. */
export function hasQualifier(text: string): boolean {
  return readWording(text).hasQualifier
}

const code = /\p{Lu}\p{L}{0,5}[- ]?\d{1,4}(?![\p{L}\d])/gu

/** Reports whether a sentence also speaks of a sibling of a claim's code: `E-6` beside `E-4`. */
export function hasSibling(claim: string, sentence: string): boolean {
  const formOf = (one: string) => one.replace(/\d/g, '9')
  const own = new Set(claim.match(code) ?? [])
  const forms = new Set([...own].map(formOf))
  return (sentence.match(code) ?? []).some((one) => !own.has(one) && forms.has(formOf(one)))
}

/** Words that speak of all or none. */
const universals = new Set(
  (
    'all every each always never entirely completely none whole everyone everybody ' +
    'alle jeder immer nie tous toujours todos siempre'
  ).split(' '),
)

/** Reports whether a claim speaks of all or none, and its source does not. */
export function isOverstated(claim: string, source: string): boolean {
  const isUniversal = (text: string) => wordsOf(text).some((word) => universals.has(word))
  return isUniversal(claim) && !isUniversal(source)
}

function wordsOf(text: string): string[] {
  if (isAscii(text)) return text.toLowerCase().match(/[a-z]+/g) ?? []
  const plain = text.toLowerCase().normalize('NFKD').replace(/\p{M}/gu, '')
  return plain.match(/\p{L}+/gu) ?? []
}

/**
 * Returns the names of a claim as terms: words with a capital that are not the first of it, and
 * words that mix letters and digits, such as `V5`.
 */
export function readNames(text: string, tokens: readonly Token[] = tokenize(text)): Set<string> {
  const names = new Set<string>()
  for (const [position, { term, start, end }] of tokens.entries()) {
    const written = text.slice(start, end)
    const isCapital = /^\p{Lu}/u.test(written) && position > 0 && !grammarWords.has(term)
    const isCode = /\p{L}/u.test(written) && /\d/.test(written)
    if (isCapital || isCode) names.add(term)
  }
  return names
}

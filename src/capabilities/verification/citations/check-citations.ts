import { grammarWords, minQuoteLength, tokenize } from '../../provenance/text/index.ts'
import { readQuantities } from '../../provenance/values/index.ts'
import type { ClaimToCheck, StoredEvidence, StoredResult } from '../contract.ts'
import { shareOfNumbers } from '../knowledge/library.ts'
import { isNegated } from '../verdicts/claim-words.ts'
import type { CitedText } from './cited-texts.ts'
import type { Citations } from './follow-references.ts'

type Result = Omit<StoredResult, 'verifier'>

/** Share of a statement's words that its quotes must have to support it. */
const minQuotedShare = 0.4
/** Minimum share of a quote's words in a source at which both count as the same language. */
const minWordShare = 0.3
/** Texts that a statement is compared with. */
const texts_max = 10

/**
 * Checks the citations of a claim. A quote decides: it is in the cited source, or, if the complete
 * source is known, it is not. Similar words only give evidence. A reference that cannot exist
 * contradicts the claim.
 */
export function checkCitations(citations: Citations, all: readonly CitedText[]): Result {
  const { impossible, texts, quotes, unseen } = citations
  if (impossible !== undefined) {
    return {
      verdict: 'contradicted',
      confidence: 0.9,
      method: 'citation',
      evidence: [],
      note: impossible,
    }
  }
  if (texts.length === 0) return notFound('citation', unseen[0] ?? 'the agent saw nothing')
  return quotes.length === 0 ? checkWords(citations) : checkQuotes(citations, all)
}

function notFound(method: string, note: string): Result {
  return { verdict: 'not_found', confidence: 0.5, method, evidence: [], note }
}

function unverifiable(method: string, evidence: StoredEvidence[], note: string): Result {
  return { verdict: 'unverifiable', confidence: 0.5, method, evidence, note }
}

function checkQuotes(citations: Citations, all: readonly CitedText[]): Result {
  const { quotes, texts, hasReferences } = citations
  const cited = quotes.map(({ text }) => findQuote(text, texts))
  const missing = quotes.filter((_, at) => cited[at] === undefined).map(({ text }) => text)
  const evidence = cited.flatMap((found) => found?.evidence ?? [])
  if (missing.length === 0)
    return checkRest(
      citations,
      evidence,
      cited.flatMap((one) => one?.text ?? []),
    )
  if (!hasReferences) return notFound('quote', 'the quote is not in what the agent saw')
  const elsewhere = missing.flatMap((quote) => findQuote(quote, all)?.evidence ?? [])
  const [other] = elsewhere
  if (other !== undefined) {
    return unverifiable(
      'quote',
      [...evidence, ...elsewhere],
      `the quote is in ${other.source}, not in the cited source`,
    )
  }
  const isCertain =
    texts.every(({ isWhole }) => isWhole) && missing.every((quote) => isSameLanguage(quote, texts))
  if (!isCertain)
    return notFound('quote', 'the quote is not in the part of the cited source that the agent saw')
  const shown = texts.slice(0, 1).flatMap((text) => text.judge({ text: missing[0] ?? '' }).evidence)
  const note = 'the cited source does not contain the quote'
  return { verdict: 'contradicted', confidence: 0.9, method: 'quote', evidence: shown, note }
}

/** Finds all parts of a quote, which may leave out words: `the fee … is 20 euros`. */
function findQuote(
  quote: string,
  texts: readonly CitedText[],
): { text: CitedText; evidence: StoredEvidence[] } | undefined {
  const parts = quote.split(/\s*(?:\[[^\]]{0,60}\]|\(?(?:…|\.{3})\)?)\s*/).map(trimQuote)
  const long = parts.filter((part) => part.length >= minQuoteLength)
  const wanted = long.length > 0 ? long : [trimQuote(quote)]
  for (const text of texts) {
    const evidence = wanted.flatMap(
      (part) => text.findQuote(part) ?? text.findQuote(withOuterQuotes(part)) ?? [],
    )
    if (evidence.length === wanted.length) return { text, evidence }
  }
  return undefined
}

/** Writes the quotation marks inside a quote as those outside of it: `'no'` as `"no"`. */
function withOuterQuotes(quote: string): string {
  return quote.replace(/(?<!\p{L})['‘’]|['‘’](?!\p{L})/gu, '"')
}

/** Removes punctuation at both ends of a quote, which may belong to the sentence around it. */
function trimQuote(quote: string): string {
  return quote.replace(/^[\s.,;:!?]+|[\s.,;:!?]+$/g, '')
}

/** Reports whether a text has words of a quote: a translated quote is not an invented one. */
function isSameLanguage(quote: string, texts: readonly CitedText[]): boolean {
  const words = tokenize(quote).map(({ term }) => term)
  return texts.some(({ text }) => {
    const known = new Set(tokenize(text).map(({ term }) => term))
    return words.filter((word) => known.has(word)).length >= minWordShare * words.length
  })
}

/** Checks the text around the quotes of a claim. The quotes are in the cited source. */
function checkRest(
  citations: Citations,
  evidence: StoredEvidence[],
  texts: readonly CitedText[],
): Result {
  const { quotes, claim, statement } = citations
  const rest = quotes.reduce((text, quote) => text.replace(quote.text, ' '), statement.text)
  const quoted = quotes.flatMap(({ text }) => contentOf(text)).length
  const isMost = quoted >= minQuotedShare * (quoted + contentOf(rest).length)
  const numbers = readQuantities(rest)
  const hasValues =
    !claim.values.some(isNotFound) && texts.some(({ text }) => shareOfNumbers(numbers, text) === 1)
  if (isMost && hasValues && !isNegated(rest)) {
    const note = 'the quote is in the cited source'
    return { verdict: 'supported', confidence: 0.95, method: 'quote', evidence, note }
  }
  const words = checkWords({ ...citations, texts })
  if (words.verdict === 'supported' || words.verdict === 'likely') return words
  const note = hasValues
    ? 'the quote is in the source, but the claim states more than the quote'
    : 'the quote is in the source, but not every value of the claim'
  return unverifiable('quote', evidence, note)
}

/** Returns whether a value was not found, including values that may be calculated. */
function isNotFound({ verdict }: ClaimToCheck['values'][number]): boolean {
  return verdict === 'unsupported' || verdict === 'not_checked'
}

function contentOf(text: string): string[] {
  return tokenize(text)
    .map(({ term }) => term)
    .filter((term) => !grammarWords.has(term))
}

const order = ['supported', 'likely', 'unverifiable', 'not_found'] as const

function checkWords({ texts, statement, claim }: Citations): Result {
  const compared = texts.slice(0, texts_max).map((text) => text.judge(statement))
  const isUnsupported = claim.values.some(isNotFound)
  for (const verdict of order) {
    const found = compared.find(({ judgement }) => judgement.verdict === verdict)
    if (found === undefined || verdict === 'not_found') continue
    const { confidence, method } = found.judgement
    if ((verdict === 'supported' || verdict === 'likely') && !isUnsupported) {
      return {
        verdict,
        confidence,
        method,
        evidence: found.evidence,
        note:
          verdict === 'supported'
            ? 'the cited source states the claim'
            : 'the cited source has the words of the claim',
      }
    }
    return unverifiable(
      'words',
      found.evidence,
      'the cited source has some words of the claim, too few to support it',
    )
  }
  return notFound('words', 'not found in the cited source')
}

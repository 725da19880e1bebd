/** Text as verification and provenance read it: folded, in tokens, sentences and lines. Pure. */

export { copyDecoded, decodeEntity, decodeText, entityOrSpace } from './entities.ts'
export { compact, type FoldedText, foldCompact, foldedText, foldText, toOriginal } from './fold.ts'
export { fractionSign, readFraction } from './fractions.ts'
export { type MappedText, type Range, TextBuilder, toSource } from './mapped-text.ts'
export { matchQuote, minQuoteLength } from './match-quote.ts'
export {
  maxSentenceWords,
  type Part,
  splitLines,
  splitLinesAndSentences,
  splitSentences,
} from './sentences.ts'
export { grammarWords, isAscii, stem, type Token, termsOf, tokenize } from './tokens.ts'

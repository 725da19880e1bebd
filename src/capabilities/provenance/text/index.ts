/** Text as verification and provenance read it: folded, in tokens, sentences and lines. Pure. */

export {
  asWritten,
  findAnnouncement,
  findRefusal,
  findSuccessClaims,
  mentionsFailure,
} from './answer-claims.ts'
export { isTurned, readAssertions } from './assertions.ts'
export {
  type DoneClaim,
  findDoneClaims,
  isChangeVerb,
  readClaimedCount,
  verbsLike,
} from './done-claims.ts'
export { copyDecoded, decodeEntity, decodeText, entityOrSpace } from './entities.ts'
export { compact, type FoldedText, foldCompact, foldedText, foldText, toOriginal } from './fold.ts'
export { fractionSign, readFraction } from './fractions.ts'
export { type MappedText, type Range, TextBuilder, toSource } from './mapped-text.ts'
export { matchQuote, minQuoteLength } from './match-quote.ts'
export { type Option, readOptions, readWords } from './options.ts'
export {
  findPhrase,
  getJaccard,
  mentions,
  ownVoiceOf,
  proseOf,
  sentencesOf,
  toPlainText,
  toTokenSet,
  wordsOf,
} from './prose.ts'
export {
  maxSentenceWords,
  type Part,
  splitLines,
  splitLinesAndSentences,
  splitSentences,
} from './sentences.ts'
export { asksForValue, readAskedSlots, readToldSlots, slotOfName, type ToldSlot } from './slots.ts'
export { grammarWords, isAscii, stem, type Token, termsOf, tokenize } from './tokens.ts'

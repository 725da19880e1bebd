import type { Passage, Question } from '../knowledge/library.ts'
import { type RatedPassage, type RatedSentence, ratePassages } from './rate-passages.ts'
import type { Judgement } from './verdict.ts'

/**
 * Score of a sentence from which words alone support a claim, once every gate is passed. A lower one
 * was right in 9 of 17 cases on claims that nothing was tuned to (docs/reference/verification.md).
 */
const supportedScore_min = 0.9
/** Support from which a passage is shown with a claim that stays `unverifiable`. */
const shownSupport_min = 0.25
/** Recall that a sentence with other numbers may lack and still dispute a claim. */
const disputeSlack = 0.15
/** Share of its support that a claim keeps when sources disagree. */
const disputedShare = 0.7

export interface WordJudgement extends Judgement {
  /** How well the sources support the claim, 0–1; ranks claims for review. */
  readonly support: number
}

/**
 * Judges a claim by the words of its passages. Words find evidence but cannot refute: the verdict
 * is `supported` for a verbatim quote, or for a sentence with a high score, every number and name
 * in the claim's order, the same negation, no limiting word of its own, and no other sentence with
 * another number. Everything else is `unverifiable` with the passage, or `not_found`.
 */
export function judgeByWords(claim: Question, passages: readonly Passage[]): WordJudgement {
  const rated = ratePassages(claim, passages)
  const best = rated[0]
  const quoted = rated.find(({ sentences }) => sentences.some(({ isQuote }) => isQuote))
  const isDisputed = best !== undefined && hasDispute(best, rated)
  const support = (best?.support ?? 0) * (isDisputed ? disputedShare : 1)
  if (quoted !== undefined && !hasDispute(quoted, rated)) {
    const evidence = evidenceOf(quoted)
    return { verdict: 'supported', confidence: 0.95, method: 'quote', evidence, support: 0.95 }
  }
  if (best === undefined || support < shownSupport_min) {
    return { verdict: 'not_found', confidence: 0.5, method: 'words', evidence: [], support }
  }
  const evidence = evidenceOf(best)
  if (!isDisputed && best.best.isComplete && best.best.score >= supportedScore_min) {
    return { verdict: 'supported', confidence: 0.9, method: 'words', evidence, support }
  }
  return { verdict: 'unverifiable', confidence: 0.5, method: 'words', evidence, support }
}

function evidenceOf({ passage: { source, text, at } }: RatedPassage): Judgement['evidence'] {
  return [{ source, quote: text, at }]
}

/**
 * Reports whether sources disagree: a sentence that has as many of the claim's words as the best
 * one has another number of the same kind instead of the claim's.
 */
function hasDispute({ best }: RatedPassage, rated: readonly RatedPassage[]): boolean {
  const disputes = ({ recall, hasOtherNumber }: RatedSentence) =>
    hasOtherNumber && recall >= best.recall - disputeSlack
  return rated.some(({ sentences }) => sentences.some(disputes))
}

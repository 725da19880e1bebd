import type { Passage, Question } from '../knowledge/library.ts'
import {
  type ComparedSentence,
  compareSentences,
  isQuoted,
  type ReadClaim,
  readClaim,
} from './compare-claim.ts'
import { findClashes } from './find-clashes.ts'
import { type Comparison, findObstacles } from './find-obstacles.ts'
import { fitSubject } from './find-subject.ts'
import { fitsRow } from './fit-table.ts'
import { readSigns, scoreSupport } from './support-score.ts'
import { likely_min } from './support-weights.ts'
import type { Judgement } from './verdict.ts'

/** Probability from which a passage is shown with a claim that stays `unverifiable`. */
const shown_min = 0.2
/** Recall from which a passage is shown. */
const minShownRecall = 0.5
/** Maximum difference of recall at which a sentence with other numbers disputes a claim. */
const disputeSlack = 0.05
/** Share of its support that a claim keeps when sources disagree. */
const disputedShare = 0.9

export interface WordJudgement extends Judgement {
  /** How well the sources support the claim, 0–1; ranks claims for review. */
  readonly support: number
}

/**
 * Judges a claim by the words of its passages. Words find evidence but cannot refute: the verdict
 * is `supported` for a verbatim quote only. It is `likely` for a sentence with all telling words,
 * every number and name, no clash, and a title that fits the question. Everything else is
 * `unverifiable` with the passage, or `not_found`. The support is a probability from a few signs, `readSigns`.
 */
export function judgeByWords(asked: Question, passages: readonly Passage[]): WordJudgement {
  return judge(asked, passages, true)
}

/**
 * Judges a claim as `judgeByWords` does, without its support: sentences that are too far from the
 * claim to be shown are not weighed, which takes most of the time.
 */
export function decideByWords(asked: Question, passages: readonly Passage[]): Judgement {
  const { verdict, confidence, method, evidence, differs } = judge(asked, passages, false)
  return { verdict, confidence, method, evidence, ...(differs === undefined ? {} : { differs }) }
}

function judge(
  asked: Question,
  passages: readonly Passage[],
  needsSupport: boolean,
): WordJudgement {
  const claim = readClaim(asked, passages[0]?.weights ?? new Map())
  const compared = compareSentences(claim, passages)
  const quoted = compared.find(({ text }) => isQuoted(claim.text, text))
  if (quoted !== undefined && !hasDispute(quoted, compared)) {
    const evidence = evidenceOf(quoted)
    return { verdict: 'supported', confidence: 0.95, method: 'quote', evidence, support: 0.95 }
  }
  const isFar = compared[0] === undefined || compared[0].recall < minShownRecall
  if (isFar && !needsSupport) return missing(0)
  const comparison = compare(claim, compared)
  if (comparison === undefined) return missing(0)
  const { best, signs, isDisputed } = comparison
  const support = scoreSupport(signs) * (isDisputed ? disputedShare : 1)
  if (best.recall < minShownRecall || support < shown_min) return missing(support)
  const evidence = evidenceOf(best)
  if (support >= likely_min && findObstacles(comparison).length === 0) {
    return { verdict: 'likely', confidence: 0.9, method: 'words', evidence, support }
  }
  const { otherNumber: differs } = best
  return {
    verdict: 'unverifiable',
    confidence: 0.5,
    method: 'words',
    evidence,
    support,
    ...(differs === undefined ? {} : { differs }),
  }
}

function missing(support: number): WordJudgement {
  return { verdict: 'not_found', confidence: 0.5, method: 'words', evidence: [], support }
}

/** Compares a claim with its best sentence; undefined without one. */
export function compare(
  claim: ReadClaim,
  compared: readonly ComparedSentence[],
): Comparison | undefined {
  const [best] = compared
  if (best === undefined) return undefined
  const source = compared.filter(({ passage }) => passage.source === best.passage.source)
  const clashes = findClashes(claim, best)
  const subject = fitSubject(claim, best, compared)
  const signs = readSigns(claim, best, source, { clashes, hasRival: subject.hasRival })
  const isOwnRow = fitsRow(claim, best, compared)
  return { claim, best, clashes, subject, signs, isDisputed: hasDispute(best, compared), isOwnRow }
}

function evidenceOf({ passage: { source, text, at } }: ComparedSentence): Judgement['evidence'] {
  return [{ source, quote: text, at }]
}

/**
 * Reports whether sources disagree: a sentence that has as many of the claim's words as the best
 * one has another number of the same kind instead of the claim's.
 */
function hasDispute(best: ComparedSentence, compared: readonly ComparedSentence[]): boolean {
  return compared.some(
    (other) => other !== best && other.hasOtherNumber && other.recall >= best.recall - disputeSlack,
  )
}

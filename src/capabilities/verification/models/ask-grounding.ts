import { type NliModel, type NliScore, readScores } from '../../../platform/models/index.ts'
import type { Range } from '../../provenance/text/index.ts'
import { splitSentences } from '../../provenance/text/index.ts'
import type { PaidCalls } from '../contract.ts'
import type { JudgeQuestion, Vote } from './ask-judge.ts'
import { canContradict, canSupport } from './shares-claim.ts'

/** Scores from which a model decides a claim. */
const likely_min = 0.8
const contradicted_min = 0.9

/** Windows whose values are compared with the claim: this takes up to 30 ms each. */
const gated_max = 5

/** A part of a passage, short enough for models that read 512 tokens, and for a quote. */
type Window = { passage: number; at: Range; text: string }
const window_chars_max = 500
const maxWindowSentences = 3
const windows_max = 60
const claim_chars_max = 2_000

/**
 * Asks a model that scores whether a text entails a claim. The quote is the part of a passage with
 * the best score among those that share the claim's values or names.
 */
export async function askGrounding(
  model: NliModel,
  question: JudgeQuestion,
  { paid, signal }: { paid: PaidCalls; signal: AbortSignal },
): Promise<Vote> {
  const vote = { model: model.name, method: 'grounding' as const }
  const none = { ...vote, stated: undefined, quote: null, confidence: 0 }
  const windows = splitPassages(question)
  if (windows.length === 0) return { ...none, fault: 'there is no passage to read' }
  const { verifier, claim } = question
  const texts = windows.map(({ text }) => text.toWellFormed())
  const call = model.score({ claim: claim.slice(0, claim_chars_max), texts })
  const result = await paid({ ...call, verifier }, signal)
  if (result.outcome !== 'answered') return { ...none, fault: result.reason }
  const scores = readScores(result.reply, windows.length)
  if (scores === undefined) return { ...none, fault: `model ${model.name} gave no scores` }
  return { ...vote, ...decide(question, windows, scores) }
}

type Decision = Pick<Vote, 'stated' | 'quote' | 'confidence' | 'fault'>

function decide(
  { claim, passages }: JudgeQuestion,
  windows: readonly Window[],
  scores: readonly NliScore[],
): Decision {
  const best = (score: 'entailment' | 'contradiction', min: number, gate: typeof canSupport) =>
    windows
      .map((window, at) => ({ window, score: scores[at]?.[score] ?? 0 }))
      .filter(({ score: value }) => value >= min)
      .toSorted((one, other) => other.score - one.score)
      .slice(0, gated_max)
      .find(({ window }) => {
        const { source = '', text = '' } = passages[window.passage] ?? {}
        return gate({ claim, quote: window.text, passage: `${source}\n${text}` })
      })
  const support = best('entailment', likely_min, canSupport)
  const contradiction = best('contradiction', contradicted_min, canContradict)
  const found = support ?? contradiction
  // A model without a clear score has no opinion, which disputes no other judge.
  if (found === undefined || (support !== undefined && contradiction !== undefined)) {
    return { stated: undefined, quote: null, confidence: 0, fault: 'the scores decide nothing' }
  }
  return {
    stated: support === undefined ? 'contradicted' : 'supported',
    quote: { passage: found.window.passage, at: found.window.at },
    confidence: Math.min(confidence_max, found.score),
    fault: undefined,
  }
}

const confidence_max = 0.95

function splitPassages({ passages }: JudgeQuestion): Window[] {
  return passages
    .flatMap(({ text }, passage) => windowsOf(text).map((at) => ({ passage, at })))
    .slice(0, windows_max)
    .map(({ passage, at }) => ({ passage, at, text: (passages[passage]?.text ?? '').slice(...at) }))
}

/** Splits a text into parts of up to three sentences. A longer sentence is cut. */
function windowsOf(text: string): Range[] {
  const windows: [number, number][] = []
  let sentences = 0
  for (const { start, end } of splitSentences(text, { start: 0, end: text.length })) {
    const last = windows.at(-1)
    const isJoined =
      last !== undefined && sentences < maxWindowSentences && end - last[0] <= window_chars_max
    if (isJoined) last[1] = end
    else windows.push([start, Math.min(end, start + window_chars_max)])
    sentences = isJoined ? sentences + 1 : 1
  }
  return windows
}

/** The pairs that cost most, without characters that JSON writes as several. */
export const largestPairs = {
  claim: 'x'.repeat(claim_chars_max),
  texts: Array.from({ length: windows_max }, () => 'x'.repeat(window_chars_max)),
}

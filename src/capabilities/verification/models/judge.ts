import {
  type ChatModel,
  isSameModel,
  type NliModel,
  type NliScore,
  readScores,
} from '../../../platform/models/index.ts'
import { type Range, splitSentences } from '../../provenance/text/index.ts'
import type { AnswerContext, Judge, Opinion, PaidCalls } from '../contract.ts'
import { askJudge, type JudgeQuestion, largestQuestion, type Vote } from './ask-judge.ts'
import { canContradict, canSupport } from './shares-claim.ts'

/** Models that judge, by type. */
export type JudgeModels = { chat: readonly ChatModel[]; nli: readonly NliModel[] }

/** Opens the judge of a run. `answer.models` wrote the answer. */
export type OpenJudge = (run: { answer: Pick<AnswerContext, 'models'>; paid: PaidCalls }) => Judge

/** Maximum judges of a claim. Further judges cost more than they improve. */
const judges_max = 2
/** Confidence when two judges agree. */
const agreedConfidence = 0.93

type Ask = (question: JudgeQuestion, run: { paid: PaidCalls; signal: AbortSignal }) => Promise<Vote>
/**
 * Returns the greatest cost of judging claims: the two most expensive judges read full passages.
 */
export function estimateJudge({ chat, nli }: JudgeModels, claims: number) {
  const bounds = [
    ...chat.map((model) => model.ask(largestQuestion).nano_dollars_max),
    ...nli.map((model) => model.score(largestPairs).nano_dollars_max),
  ]
    .toSorted((one, other) => Number(other - one))
    .slice(0, judges_max)
  const nano_dollars = bounds.reduce((sum, one) => sum + one, 0n) * BigInt(claims)
  return { calls: claims * bounds.length, nano_dollars }
}

type AskedJudge = { ask: Ask; isWriter: boolean }

/**
 * Creates the judge of runs. Two judges are asked if there are two. Both must agree; a model that
 * wrote the answer never decides alone.
 */
export function createJudge(models: JudgeModels): OpenJudge {
  return ({ answer, paid }) => {
    const judges = listJudges(models, answer.models)
    return async (question, signal) => judgeBy(judges, question, { paid, signal })
  }
}

async function judgeBy(
  judges: readonly AskedJudge[],
  question: JudgeQuestion,
  run: { paid: PaidCalls; signal: AbortSignal },
): Promise<Opinion> {
  if (question.passages.length === 0) return undecided('there is no passage to judge by')
  if (judges.every(({ isWriter }) => isWriter)) {
    return undecided('the only judge is the model that wrote the answer')
  }
  const votes = judges.map(async ({ ask, isWriter }) => ({
    ...(await ask(question, run)),
    isWriter,
  }))
  return fuse(await Promise.all(votes))
}

function listJudges({ chat, nli }: JudgeModels, writers: readonly string[]): AskedJudge[] {
  const isWriter = ({ name, model }: { name: string; model: string }) =>
    writers.some((writer) => isSameModel(writer, model) || isSameModel(writer, name))
  const judges: AskedJudge[] = [
    ...chat.map((model) => ({
      ask: (...[question, run]: Parameters<Ask>) => askJudge(model, question, run),
      isWriter: isWriter(model),
    })),
    ...nli.map((model) => ({
      ask: (...[question, run]: Parameters<Ask>) => askGrounding(model, question, run),
      isWriter: isWriter(model),
    })),
  ]
  return judges
    .toSorted((one, other) => Number(one.isWriter) - Number(other.isWriter))
    .slice(0, judges_max)
}

/** Combines the votes of one or two judges. */
function fuse(votes: readonly (Vote & { isWriter: boolean })[]): Opinion {
  const stated = new Set(votes.flatMap((vote) => vote.stated ?? []))
  if (stated.size > 1) return undecided('the judges disagree', votes)
  const valid = votes.filter(({ fault, quote }) => fault === undefined && quote !== null)
  const [first] = valid.toSorted((one, other) => other.confidence - one.confidence)
  if (first === undefined) return undecided(findReason(votes), votes)
  if (valid.every(({ isWriter }) => isWriter)) {
    return undecided('the only judge is the model that wrote the answer', votes)
  }
  const { stated: verdict = 'unverifiable', quote, method } = first
  const models = valid.map(({ model }) => model)
  const confidence =
    valid.length > 1 ? Math.max(agreedConfidence, first.confidence) : first.confidence
  const note = `${models.join(' and ')}: ${verdict} by the quote`
  return { verdict, confidence, quote, method, models, note }
}

function findReason(votes: readonly Vote[]): string {
  const fault = votes.find((vote) => vote.fault !== undefined)?.fault
  return fault ?? 'no passage decides the claim'
}

function undecided(note: string, votes: readonly Vote[] = []): Opinion {
  const models = votes.map(({ model }) => model)
  return { verdict: 'unverifiable', confidence: 0.5, quote: null, method: 'judge', models, note }
}

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
async function askGrounding(
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
const largestPairs = {
  claim: 'x'.repeat(claim_chars_max),
  texts: Array.from({ length: windows_max }, () => 'x'.repeat(window_chars_max)),
}

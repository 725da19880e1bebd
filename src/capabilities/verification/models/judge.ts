import { type ChatModel, isSameModel, type NliModel } from '../../../platform/models/index.ts'
import type { AnswerContext, Judge, Opinion, PaidCalls } from '../contract.ts'
import { askGrounding, largestPairs } from './ask-grounding.ts'
import { askJudge, type JudgeQuestion, largestQuestion, type Vote } from './ask-judge.ts'

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

import type { ContextMemory, MemoryEntry } from '../contract.ts'
import { type Answer, placeKey, readDialogues } from '../facts/index.ts'
import type { JudgingPlan } from '../findings/findings-store.ts'
import { digestOf, type TaskRun } from '../reconstruction/index.ts'
import { isJudgeOff } from '../settings/detector-settings.ts'
import type { TaskRead } from '../worker/analyse-tasks.ts'

/** An answer in a question to the judge. */
type AskedAnswer = {
  answer: Answer
  /** Indexes in `JudgeQuestion.statements` of the statements valid for the answer. */
  holds: readonly number[]
}

/** A question to the judge: answers, and the statements valid when they were given. */
export type JudgeQuestion = {
  /** The statements and answers, as the model reads them. */
  data: Record<string, unknown>
  statements: readonly MemoryEntry[]
  answers: readonly AskedAnswer[]
}

const statements_max = 30
const answers_max = 10
const answer_chars_max = 1_500

/**
 * Returns the digests of the latest judgeable answers. A digest covers the answer and its valid
 * statements.
 */
export function getJudgeableDigests(run: TaskRun, prior: ContextMemory | undefined): string[] {
  return findJudgeable(run, prior).map(digestOfAnswer)
}

/** Builds the question about answers not judged yet; undefined if all were judged. */
export function buildQuestion(
  run: TaskRun,
  prior: ContextMemory | undefined,
  judged: readonly string[] = [],
): JudgeQuestion | undefined {
  const fresh = findJudgeable(run, prior).filter(
    (answer) => !judged.includes(digestOfAnswer(answer)),
  )
  if (fresh.length === 0) return undefined
  const known = collectStatements(fresh)
  const places = new Map([...known.keys()].map((key, at) => [key, at]))
  const statements = [...known.values()]
  const answers = fresh.map((answer) => ({
    answer,
    holds: answer.active.flatMap((entry) => places.get(entryKey(entry)) ?? []),
  }))
  const data = {
    statements: statements.map(({ role, quote }, at) => ({ at, role, quote })),
    answers: answers.map(({ answer, holds }, at) => ({
      at,
      holds,
      text: answer.message.text.slice(0, answer_chars_max).toWellFormed(),
    })),
  }
  return { data, statements, answers }
}

/** Returns the latest answers with text and at least one valid statement, in order of steps. */
function findJudgeable(run: TaskRun, prior: ContextMemory | undefined): Answer[] {
  const byStep = new Map<number, Answer>()
  for (const { answers } of readDialogues(run, prior).dialogues) {
    for (const answer of answers) {
      const isAsked = answer.active.length > 0 && answer.message.text.trim() !== ''
      // A branch repeats the answers of its parent.
      if (isAsked && !byStep.has(answer.step.index)) byStep.set(answer.step.index, answer)
    }
  }
  const inOrder = [...byStep.values()].toSorted((a, b) => a.step.index - b.step.index)
  return inOrder.slice(-answers_max)
}

/** Collects the statements of the answers; above the limit those of the newest answers are kept. */
function collectStatements(answers: readonly Answer[]): Map<string, MemoryEntry> {
  const found = new Map<string, MemoryEntry>()
  for (const { active } of answers.toReversed()) {
    for (const entry of active.toReversed()) {
      if (found.size >= statements_max) return found
      found.set(entryKey(entry), entry)
    }
  }
  return found
}

function entryKey({ slot, value, role, quote, place }: MemoryEntry): string {
  return JSON.stringify([slot, value, role, quote, placeKey(place)])
}

function digestOfAnswer({ call, message, active }: Answer): string {
  return digestOf(JSON.stringify([placeKey(call), message.text, active.map(entryKey)]))
}

/** Plans the questions about a task; undefined if the judge is off. An ended task needs no rest. */
export function planJudging(
  { facts, settings, run, prior }: TaskRead,
  rest_ms: number,
): JudgingPlan | undefined {
  if (isJudgeOff(settings)) return undefined
  const hasEnded = !facts.implicit && facts.state !== 'running'
  return { answers: getJudgeableDigests(run, prior), rest_ms: hasEnded ? 0 : rest_ms }
}

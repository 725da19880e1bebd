import type { ContextMemory, MemoryEntry } from '../contract.ts'
import { type Answer, placeKey, readDialogues } from '../facts/index.ts'
import type { JudgingPlan } from '../findings/detections-store.ts'
import { digestOf, type TaskRun } from '../reconstruction/index.ts'
import { isJudgeOff } from '../settings/detector-settings.ts'
import type { TaskRead } from '../worker/analyse-tasks.ts'

/** One answer that the judge is asked about. */
export type AskedAnswer = {
  answer: Answer
  /** Places in `JudgeQuestion.statements` of what held when the answer was given. */
  holds: readonly number[]
}

/** What the judge is asked of a run: answers, and the statements that held when they were given. */
export type JudgeQuestion = {
  text: string
  statements: readonly MemoryEntry[]
  answers: readonly AskedAnswer[]
}

const statements_max = 30
const answers_max = 10
const answer_chars_max = 1_500

/**
 * Digests of the last answers of a run that the judge could be asked about: an answer with what was
 * said before it has the same digest as long as neither changes.
 */
export function getJudgeableDigests(run: TaskRun, prior: ContextMemory | undefined): string[] {
  return findJudgeable(run, prior).map(digestOfAnswer)
}

/** What to ask of those of the last answers that were not asked yet; undefined when of none. */
export function buildQuestion(
  run: TaskRun,
  prior: ContextMemory | undefined,
  asked: readonly string[] = [],
): JudgeQuestion | undefined {
  const fresh = findJudgeable(run, prior).filter(
    (answer) => !asked.includes(digestOfAnswer(answer)),
  )
  if (fresh.length === 0) return undefined
  const known = collectStatements(fresh)
  const places = new Map([...known.keys()].map((key, at) => [key, at]))
  const statements = [...known.values()]
  const answers = fresh.map((answer) => ({
    answer,
    holds: answer.active.flatMap((entry) => places.get(entryKey(entry)) ?? []),
  }))
  const text = JSON.stringify({
    statements: statements.map(({ role, quote }, at) => ({ at, role, quote })),
    answers: answers.map(({ answer, holds }, at) => ({
      ...{ at, holds },
      text: answer.message.text.slice(0, answer_chars_max).toWellFormed(),
    })),
  })
  return { text, statements, answers }
}

/** The last answers with text before which something was said to keep, in the order of steps. */
function findJudgeable(run: TaskRun, prior: ContextMemory | undefined): Answer[] {
  const byStep = new Map<number, Answer>()
  for (const { answers } of readDialogues(run, prior).dialogues) {
    for (const answer of answers) {
      const isAsked = answer.active.length > 0 && answer.message.text.trim() !== ''
      // A branch tells the answers of its parent again.
      if (isAsked && !byStep.has(answer.step.index)) byStep.set(answer.step.index, answer)
    }
  }
  const inOrder = [...byStep.values()].toSorted((a, b) => a.step.index - b.step.index)
  return inOrder.slice(-answers_max)
}

/** Those that held before the newest answers, where there are too many. */
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

/** Plans the questions about a task; undefined where the judge is off. An ended task needs no rest. */
export function planJudging(
  { facts, settings, run, prior }: TaskRead,
  rest_ms: number,
): JudgingPlan | undefined {
  if (isJudgeOff(settings)) return undefined
  const hasEnded = !facts.implicit && facts.state !== 'running'
  return { answers: getJudgeableDigests(run, prior), rest_ms: hasEnded ? 0 : rest_ms }
}

import { type Answer, dialoguesOf } from '../context/dialogues.ts'
import type { ContextLedger, LedgerEntry } from '../context/ledger.ts'
import { placeKey } from '../evidence/places.ts'
import type { TaskRun } from '../reconstruction/contract.ts'
import { digestOf } from '../reconstruction/digests.ts'

/** One answer that the judge is asked about. */
export type AskedAnswer = {
  answer: Answer
  /** Places in `JudgeQuestion.statements` of what held when the answer was given. */
  holds: readonly number[]
}

/** What the judge is asked of a run: answers, and the statements that held when they were given. */
export type JudgeQuestion = {
  text: string
  statements: readonly LedgerEntry[]
  answers: readonly AskedAnswer[]
}

const statements_max = 30
const answers_max = 10
const answer_chars_max = 1_500

/**
 * Digests of the last answers of a run that the judge could be asked about: an answer with what was
 * said before it has the same digest as long as neither changes.
 */
export function judgeableDigests(run: TaskRun, prior: ContextLedger | undefined): string[] {
  return judgeable(run, prior).map(digestOfAnswer)
}

/** What to ask of those of the last answers that were not asked yet; undefined when of none. */
export function questionOf(
  run: TaskRun,
  prior: ContextLedger | undefined,
  asked: readonly string[] = [],
): JudgeQuestion | undefined {
  const fresh = judgeable(run, prior).filter((answer) => !asked.includes(digestOfAnswer(answer)))
  if (fresh.length === 0) return undefined
  const known = statementsOf(fresh)
  const places = new Map([...known.keys()].map((key, at) => [key, at]))
  const statements = [...known.values()]
  const answers = fresh.map((answer) => ({
    answer,
    holds: answer.active.flatMap((entry) => places.get(keyOf(entry)) ?? []),
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
function judgeable(run: TaskRun, prior: ContextLedger | undefined): Answer[] {
  const byStep = new Map<number, Answer>()
  for (const { answers } of dialoguesOf(run, prior).dialogues) {
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
function statementsOf(answers: readonly Answer[]): Map<string, LedgerEntry> {
  const found = new Map<string, LedgerEntry>()
  for (const { active } of answers.toReversed()) {
    for (const entry of active.toReversed()) {
      if (found.size >= statements_max) return found
      found.set(keyOf(entry), entry)
    }
  }
  return found
}

function keyOf({ slot, value, role, quote, place }: LedgerEntry): string {
  return JSON.stringify([slot, value, role, quote, placeKey(place)])
}

function digestOfAnswer({ call, message, active }: Answer): string {
  return digestOf(JSON.stringify([placeKey(call), message.text, active.map(keyOf)]))
}

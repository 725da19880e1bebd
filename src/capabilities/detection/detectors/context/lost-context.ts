import { z } from 'zod'
import { answerTextOf } from '../../context/answer-text.ts'
import { askedAgain } from '../../context/asked-again.ts'
import { askedAgainFinding } from '../../context/asked-again-finding.ts'
import type { Breach } from '../../context/breach.ts'
import { checkAnswer } from '../../context/check-answer.ts'
import { contextFinding } from '../../context/context-finding.ts'
import { type Answer, type Dialogue, dialoguesOf } from '../../context/dialogues.ts'
import type { LedgerEntry } from '../../context/ledger.ts'
import { effectiveEntries, isAbout } from '../../context/ledger-entries.ts'
import type { Detector, FindingDraft, Severity, WorkBudget } from '../../contract.ts'
import { placeOf } from '../../evidence/places.ts'
import { remember } from '../../evidence/remember.ts'
import { type Message, type TaskRun, text_chars_max } from '../../reconstruction/contract.ts'

const settings = z.strictObject({
  confidence_min: z
    .number()
    .min(0)
    .max(1)
    .default(0.7)
    .describe('Broken rules that are less sure are not told.'),
})

/** A rule that a later answer breaks, or a fact that the agent asks for though it was told. */
export const lostContext: Detector<typeof settings> = {
  name: 'lost_context',
  kind: 'context',
  types: ['lost_context'],
  version: 1,
  needs: ['texts'],
  settings,
  detect(run, { confidence_min }, budget, prior) {
    const broken = dialoguesOf(run, prior).dialogues.flatMap((dialogue) =>
      [...coursesOf(run, dialogue, budget).values()].flatMap((course) =>
        findingOf(run, course, confidence_min),
      ),
    )
    const asked = askedAgain(run, budget, prior).filter(({ was_asked }) => !was_asked)
    return [...broken, ...asked.map((again) => askedAgainFinding(run, 'lost_context', again))]
  },
}

/** How one rule fared in a dialogue. */
type Course = {
  rule: LedgerEntry
  broken: { answer: Answer; breach: Breach }[]
  /** The last answer that could be checked kept it. */
  isKept: boolean
}

function coursesOf(run: TaskRun, { answers }: Dialogue, budget: WorkBudget): Map<string, Course> {
  const courses = new Map<string, Course>()
  for (const answer of answers) {
    budget.spend(1)
    for (const rule of effectiveEntries(answer.active)) {
      if (rule.kind === 'fact') continue
      budget.spend(1)
      const key = `${rule.place.observation_id} ${rule.slot} ${rule.value}`
      const breach = judged(run, rule, answer, key)
      if (breach === 'not judged') continue
      const course = courses.get(key) ?? { rule, broken: [], isKept: true }
      // What a tool did stays done, whatever the agent does next.
      course.isKept = breach === undefined && rule.kind !== 'tool'
      if (breach !== undefined) course.broken.push({ answer, breach })
      courses.set(key, course)
    }
  }
  return courses
}

/** Whether an answer is one that the rule is meant for. */
function isJudged(
  run: TaskRun,
  rule: LedgerEntry,
  { step, call, message, asked }: Answer,
): boolean {
  if (step.tools.length > 0 || step.is_partial || step.refusal !== undefined) return false
  if (call.status !== 'ok' || cutShort.has(call.finish_reason)) return false
  if (message.text.trim() === '' || message.text.length >= text_chars_max) return false
  if (asked === undefined || isOwn(run, rule, asked.text, asked.call)) return true
  return !isAbout(rule, asked.text)
}

const cutShort = new Set(['length', 'content_filter', 'max_tokens'])

/** The user's message is the very one that gave the rule. */
function isOwn(run: TaskRun, rule: LedgerEntry, text: string, call: number): boolean {
  return (
    run.calls[call]?.observation_id === rule.place.observation_id &&
    text.includes(rule.quote.slice(0, 40))
  )
}

type Verdict = Breach | undefined | 'not judged'

/** What each answer was found to break: a rule is checked once for an answer. */
const verdicts = remember((_message: Message) => new Map<string, Verdict>())

function judged(run: TaskRun, rule: LedgerEntry, answer: Answer, key: string): Verdict {
  // What an agent calls is told by later calls too, so that it is looked at each time.
  if (rule.kind === 'tool') return breachOf(run, rule, answer)
  const known = verdicts(answer.message)
  if (!known.has(key)) {
    known.set(key, isJudged(run, rule, answer) ? breachOf(run, rule, answer) : 'not judged')
  }
  return known.get(key)
}

function breachOf(run: TaskRun, rule: LedgerEntry, { step, message }: Answer): Breach | undefined {
  if (rule.kind !== 'tool') return checkAnswer(rule, answerTextOf(message))
  const called = step.tools.find(
    (index) => run.tools[index]?.name.toLowerCase() === rule.value.toLowerCase(),
  )
  return called === undefined
    ? undefined
    : { violation: `The agent called "${rule.value}".`, confidence: 0.95 }
}

function findingOf(run: TaskRun, course: Course, confidence_min: number): FindingDraft[] {
  const { rule, isKept } = course
  const broken = course.broken.filter(({ breach }) => breach.confidence >= confidence_min)
  const [first] = broken
  if (first === undefined) return []
  const isElsewhere = rule.task_id !== run.task_id
  const surest = Math.max(...broken.map(({ breach }) => breach.confidence))
  return [
    contextFinding(run, {
      type: 'lost_context',
      severity: severityOf(rule),
      topic: `${rule.slot}=${rule.value}`,
      summary: `${first.breach.violation} The ${rule.role} had said: ${rule.quote}`,
      original_context: rule.quote,
      violation: first.breach.violation,
      original: rule.place,
      steps: broken.map(({ answer }) => answer.step.index),
      begins_at: placeOf(first.answer.call),
      is_waste: true,
      recovered: isKept,
      confidence: surest * (isElsewhere ? 0.8 : 1),
      evidence: {
        rule: rule.kind,
        slot: rule.slot,
        expected: rule.value,
        said_by: rule.role,
        said_in_task: rule.task_id,
        answer: first.answer.message.text.slice(0, answer_chars_max),
      },
    }),
  ]
}

const answer_chars_max = 300

function severityOf({ kind, holds }: LedgerEntry): Severity {
  if (kind === 'tool') return 'high'
  return holds === 'turn' ? 'low' : 'medium'
}

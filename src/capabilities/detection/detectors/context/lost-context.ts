import { z } from 'zod'
import type { Detector, FindingDraft, MemoryEntry, Severity, WorkBudget } from '../../contract.ts'
import {
  type Answer,
  answerTextOf,
  type Breach,
  checkAnswer,
  type Dialogue,
  findAnsweredQuestions,
  findLostNeeds,
  holdsFor,
  isAbout,
  lifts,
  mayGiveRule,
  placeOf,
  readDialogues,
  readStatements,
  remember,
  selectEffective,
  toContextDraft,
  toQuestionDraft,
} from '../../facts/index.ts'
import { type Message, type TaskRun, text_chars_max } from '../../reconstruction/index.ts'

const settings = z.strictObject({
  confidence_min: z
    .number()
    .min(0)
    .max(1)
    .default(0.7)
    .describe('Minimum confidence of a broken rule.'),
})

/**
 * Finds broken rules, facts that the agent asks for although the user stated them, and calls against
 * what the user needs.
 */
export const lostContext: Detector<typeof settings> = {
  name: 'lost_context',
  kind: 'context',
  types: ['lost_context'],
  version: 8,
  needs: ['texts', 'history'],
  settings,
  detect(run, { confidence_min }, budget, prior) {
    const broken = readDialogues(run, prior).dialogues.flatMap((dialogue) =>
      [...coursesOf(run, dialogue, budget).values()].flatMap((course) =>
        toFindings(run, course, confidence_min),
      ),
    )
    const repeated = findAnsweredQuestions(run, budget, prior).filter(({ was_asked }) => !was_asked)
    return [
      ...broken,
      ...repeated.map((again) => toQuestionDraft(run, 'lost_context', again)),
      ...findLostNeeds(run, budget),
    ]
  },
}

/** The observance of one rule in a dialogue. */
type RuleCourse = {
  rule: MemoryEntry
  broken: { answer: Answer; breach: Breach }[]
  /** Checkable answers. */
  answers: number
  /** Those that kept the rule before one broke it. */
  kept_before: number
  /** True if the last checkable answer kept the rule. */
  isKept: boolean
  /** True if it was given before the first answer. */
  isOpening: boolean
}

function coursesOf(
  run: TaskRun,
  { answers }: Dialogue,
  budget: WorkBudget,
): Map<string, RuleCourse> {
  const courses = new Map<string, RuleCourse>()
  for (const answer of answers) {
    budget.spend(1)
    for (const rule of selectEffective(answer.active)) {
      if (rule.kind === 'fact') continue
      budget.spend(1)
      const key = `${rule.place.observation_id} ${rule.slot} ${rule.value}`
      const breach = checkRuleOnce(run, rule, answer, key)
      if (breach === 'not judged') continue
      const course = courses.get(key) ?? newCourse(rule, answers[0])
      note(course, answer, breach)
      courses.set(key, course)
    }
  }
  return courses
}

function newCourse(rule: MemoryEntry, first: Answer | undefined): RuleCourse {
  const isOpening = first?.active.includes(rule) ?? false
  return { rule, broken: [], answers: 0, kept_before: 0, isKept: true, isOpening }
}

function note(course: RuleCourse, answer: Answer, breach: Breach | undefined): void {
  course.answers += 1
  // A forbidden tool call cannot be undone by a later answer.
  course.isKept = breach === undefined && course.rule.kind !== 'tool'
  if (breach !== undefined) course.broken.push({ answer, breach })
  else if (course.broken.length === 0) course.kept_before += 1
}

/** Tells whether a rule applies to an answer. */
function isCheckable(
  run: TaskRun,
  rule: MemoryEntry,
  { step, call, message, question }: Answer,
): boolean {
  if (step.tools.length > 0 || step.is_partial || step.refusal !== undefined) return false
  if (call.status !== 'ok' || cutShort.has(call.finish_reason)) return false
  if (message.text.trim() === '' || message.text.length >= text_chars_max) return false
  if (rule.when !== undefined && !isMeant(rule.when, rule.quote, question)) return false
  if (question === undefined || isOwn(run, rule, question.text, question.call)) return true
  if (isExcepted(rule, question)) return false
  return !isAbout(rule, question.text) || isStatedAgain(rule, question)
}

/** Tells whether a message lifts a rule for its answer: "just this once you can write more". */
function isExcepted(rule: MemoryEntry, message: Message): boolean {
  return readStatements(message).releases.some((release) => lifts(release, rule))
}

/** Tells whether a rule with a condition holds for the user's message, besides its own words. */
function isMeant(when: string, quote: string, question: Message | undefined): boolean {
  return question !== undefined && holdsFor(when, question.text.replace(quote, ' '))
}

/** Tells whether a message states a rule again, so that it asks for no exception. */
function isStatedAgain({ slot, value }: MemoryEntry, message: Message): boolean {
  return readStatements(message).statements.some(
    (statement) => statement.slot === slot && statement.value === value,
  )
}

const cutShort = new Set(['length', 'content_filter', 'max_tokens'])

/** Tells whether the user's message is the one that gave the rule. */
function isOwn(run: TaskRun, rule: MemoryEntry, text: string, call: number): boolean {
  return (
    run.calls[call]?.observation_id === rule.place.observation_id &&
    text.includes(rule.quote.slice(0, 40))
  )
}

type RuleCheck = Breach | undefined | 'not judged'

/** Checks of each answer by rule, so that a rule is checked once per answer. */
const checksByRule = remember((_message: Message) => new Map<string, RuleCheck>())

function checkRuleOnce(run: TaskRun, rule: MemoryEntry, answer: Answer, key: string): RuleCheck {
  // Later calls can report more tool calls of an answer, so this check is not cached.
  if (rule.kind === 'tool') return checkRule(run, rule, answer)
  const known = checksByRule(answer.message)
  if (!known.has(key)) {
    known.set(key, isCheckable(run, rule, answer) ? checkRule(run, rule, answer) : 'not judged')
  }
  return known.get(key)
}

function checkRule(run: TaskRun, rule: MemoryEntry, { step, message }: Answer): Breach | undefined {
  if (rule.kind !== 'tool') return checkAnswer(rule, answerTextOf(message))
  const called = step.tools.find(
    (index) => run.tools[index]?.name.toLowerCase() === rule.value.toLowerCase(),
  )
  return called === undefined
    ? undefined
    : { violation: `The agent called "${rule.value}".`, confidence: 0.95 }
}

function toFindings(run: TaskRun, course: RuleCourse, confidence_min: number): FindingDraft[] {
  const { rule, isKept } = course
  const broken = course.broken.filter(({ breach }) => breach.confidence >= confidence_min)
  const [first] = broken
  if (first === undefined || isUnsure(course) || isProbablyEnded(run, course)) return []
  const isElsewhere = rule.task_id !== run.task_id
  const surest = Math.max(...broken.map(({ breach }) => breach.confidence))
  return [
    toContextDraft(run, {
      type: 'lost_context',
      severity: severityOf(run, course),
      topic: `${rule.slot}=${rule.value}`,
      summary: `${first.breach.violation} The ${rule.role} had said: ${rule.quote}`,
      original_context: rule.quote,
      violation: first.breach.violation,
      original: rule.place,
      steps: broken.map(({ answer }) => answer.step.index),
      begins_at: placeOf(first.answer.call),
      is_waste: true,
      recovered: isKept,
      confidence: surest * (isElsewhere ? 0.8 : 1) * (rule.is_likely ? 0.7 : 1),
      evidence: {
        rule: rule.kind,
        slot: rule.slot,
        expected: rule.value,
        said_by: rule.role,
        said_in_task: rule.task_id,
        kept_before: course.kept_before,
        ...(rule.is_likely && { read_by: 'classifier' }),
        answer: first.answer.message.text.slice(0, answer_chars_max),
      },
    }),
  ]
}

const answer_chars_max = 300

/**
 * Tells whether the first of several answers broke a lasting rule from before it: the rule is probably none, or none
 * for these answers. A later rule replies to answers that the user has seen. What a classifier took for a rule needs an
 * answer that kept it.
 */
function isUnsure({ rule, kept_before, isOpening, answers }: RuleCourse): boolean {
  if (rule.is_likely) return kept_before === 0
  if (rule.kind === 'tool' || rule.kind === 'topic' || rule.holds === 'turn') return false
  return isOpening && kept_before === 0 && answers > 1
}

/**
 * Tells whether a rule of the user was probably ended by a later message, in words that are not read: from the
 * answer to that message on, each answer breaks the rule. An agent that works alone gets no later message. A
 * forbidden tool stays forbidden.
 */
function isProbablyEnded(run: TaskRun, course: RuleCourse): boolean {
  const { rule, broken, answers, kept_before } = course
  const question = broken[0]?.answer.question
  if (rule.role !== 'user' || rule.kind === 'tool' || question === undefined) return false
  if (broken.length < 2 || answers > kept_before + broken.length) return false
  return !isOwn(run, rule, question.text, question.call)
}

/**
 * A rule has a witness if an answer kept it before, or if the user gave it after an answer. Without one it is low, and so is
 * one that the user may have changed in the message before the first break.
 */
function severityOf(run: TaskRun, { rule, broken, kept_before, isOpening }: RuleCourse): Severity {
  if (rule.kind === 'tool') return 'high'
  // Each answer about something else keeps a limit of topics, so that none is a witness.
  if (rule.kind === 'topic' || rule.is_likely) return 'low'
  const isKept = kept_before > 0 && rule.holds === 'always'
  if (!isKept && (isOpening || rule.role !== 'user')) return 'low'
  const question = broken[0]?.answer.question
  const isSettled =
    question === undefined ||
    isOwn(run, rule, question.text, question.call) ||
    isStatedAgain(rule, question) ||
    !mayGiveRule(question)
  return isSettled ? 'medium' : 'low'
}

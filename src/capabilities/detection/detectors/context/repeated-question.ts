import { z } from 'zod'
import { contextFinding } from '../../context/context-finding.ts'
import { type Answer, type Dialogue, dialoguesOf } from '../../context/dialogues.ts'
import { factValueOf } from '../../context/fact-claims.ts'
import { wordsOf } from '../../context/prose.ts'
import { type Question, questionsIn } from '../../context/questions.ts'
import type { Detector, FindingDraft, WorkBudget } from '../../contract.ts'
import { placeOf } from '../../evidence/places.ts'
import type { Message, Place, TaskRun } from '../../reconstruction/contract.ts'

const settings = z.strictObject({})

/** The agent asks the user for what the user has told already. */
export const repeatedQuestion: Detector<typeof settings> = {
  name: 'repeated_question',
  kind: 'context',
  types: ['repeated_question'],
  version: 1,
  needs: ['texts'],
  settings,
  detect(run, _settings, budget, prior) {
    return dialoguesOf(run, prior).dialogues.flatMap((dialogue) =>
      inDialogue(run, dialogue, budget),
    )
  },
}

/** What a question asked for, and where the user told it. */
type Known = { quote: string; value: string; place: Place; told_at: number; task_id: string }

function inDialogue(run: TaskRun, dialogue: Dialogue, budget: WorkBudget): FindingDraft[] {
  const found = new Map<string, FindingDraft>()
  const answered = new Map<string, Known>()
  for (const answer of dialogue.answers) {
    budget.spend(1)
    if (answer.step.is_partial) continue
    const questions = questionsIn(answer.message)
    for (const question of questions) {
      const known = knownBy(answer, dialogue, question) ?? answered.get(question.words)
      if (known === undefined || found.has(question.words)) continue
      if (isReopened(run, dialogue, { known, answer }, budget)) continue
      found.set(question.words, findingOf(run, answer, { known, question }))
    }
    noteReply(run, dialogue, { answer, questions, answered })
  }
  return [...found.values()]
}

type Asking = { answer: Answer; questions: readonly Question[]; answered: Map<string, Known> }

/** Keeps what the user replied, for when the same is asked again. */
function noteReply(
  run: TaskRun,
  dialogue: Dialogue,
  { answer, questions, answered }: Asking,
): void {
  const [question] = questions
  if (question === undefined || !isOnly(answer)) return
  const reply = replyTo(run, dialogue, answer)
  if (reply !== undefined) answered.set(question.words, reply)
}

/** A fact of the ledger that the question asks for. */
function knownBy({ active }: Answer, { heard }: Dialogue, { keys }: Question): Known | undefined {
  const fact = active.findLast(
    ({ kind, slot, role }) =>
      kind === 'fact' && role === 'user' && keys.some((key) => slot === `fact:${key}`),
  )
  if (fact === undefined) return undefined
  return {
    quote: fact.quote,
    value: factValueOf(fact).normal,
    place: fact.place,
    told_at: heard.findIndex(({ role, text }) => role === 'user' && text.includes(fact.quote)),
    task_id: fact.task_id,
  }
}

/** An answer that asks one thing only: then the user's next words are the reply to it. */
function isOnly({ message, step }: Answer): boolean {
  return (
    step.tools.length === 0 &&
    questionsIn(message).length === 1 &&
    message.text.split('?').length <= 2
  )
}

/** What the user said next, when it is a reply: short, no question, and not "I don't know". */
function replyTo(run: TaskRun, { heard }: Dialogue, { at }: Answer): Known | undefined {
  const next = heard[at + 1]
  if (next === undefined || next.role !== 'user') return undefined
  const words = wordsOf(next.text).length
  if (
    words === 0 ||
    words > reply_words_max ||
    next.text.includes('?') ||
    evasive.test(next.text)
  ) {
    return undefined
  }
  const call = run.calls[next.call]
  return (
    call && {
      quote: next.text,
      value: next.text,
      place: placeOf(call),
      told_at: at + 1,
      task_id: run.task_id,
    }
  )
}

const reply_words_max = 14
const evasive =
  /\b(?:don't|do not|not sure|no idea|later|skip|unknown|can't|cannot|won't|rather not|why|wait|hold on|sure|help|yes|no|ok|okay|next|nothing|continue|go on|whatever|any|maybe)\b/i

/** Something came between that makes asking again right: the value failed, or there is a second one. */
function isReopened(
  run: TaskRun,
  { heard, thread }: Dialogue,
  { known, answer }: { known: Known; answer: Answer },
  budget: WorkBudget,
): boolean {
  const between = heard.slice(Math.max(0, known.told_at + 1), answer.at)
  budget.spend(between.length)
  return (
    between.some((message) => message.role === 'user' && opens.test(message.text)) ||
    between.some(
      ({ role, text }) => role === 'tool' && failed.test(text.slice(0, result_chars_max)),
    ) ||
    run.tools.some(
      ({ thread: of, fault, step }) =>
        of === thread.index && fault !== null && step !== null && step < answer.step.index,
    ) ||
    between.some((message) => isDeclared(message))
  )
}

const result_chars_max = 2_000
const opens =
  /\b(?:another|second|different|new|other|also|too|as well|instead|start over|wrong|change|actually|sorry|not (?:that|this|the)|mistake|ask me again|one more|next|again|forget)\b/i
const failed =
  /\b(?:not found|no (?:such|match|result|record|order|booking|user|customer)|invalid|does(?:n't| not) exist|unknown|error|fail(?:ed|ure)?|mismatch|null|none|denied|incorrect|expired)\b/i

/** The agent itself said that the value did not do. */
function isDeclared({ role, text }: Message): boolean {
  return (
    role === 'assistant' &&
    /\b(?:could(?:n't| not) find|can(?:'t|not) find|unable to (?:find|locate)|not found|invalid|doesn't (?:match|exist)|does not (?:match|exist)|no (?:order|booking|account|record)s?|isn't valid|is not valid|incorrect|doesn't seem)\b/i.test(
      text,
    )
  )
}

function findingOf(
  run: TaskRun,
  answer: Answer,
  { known, question }: { known: Known; question: Question },
): FindingDraft {
  const isElsewhere = known.task_id !== run.task_id
  return contextFinding(run, {
    type: 'repeated_question',
    severity: 'medium',
    topic: question.words,
    summary: `The agent asks "${question.sentence}"; the user had said: ${known.quote}`,
    original_context: known.quote,
    violation: question.sentence,
    original: known.place,
    steps: [answer.step.index],
    begins_at: placeOf(answer.call),
    is_waste: true,
    recovered: false,
    confidence: isElsewhere ? 0.7 : 0.85,
    evidence: { question: question.sentence, known: known.value, said_in_task: known.task_id },
  })
}

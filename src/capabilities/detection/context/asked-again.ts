import type { WorkBudget } from '../contract.ts'
import { placeOf } from '../evidence/places.ts'
import type { Message, Place, TaskRun } from '../reconstruction/contract.ts'
import { type Answer, type Dialogue, type Dialogues, dialoguesOf } from './dialogues.ts'
import { factValueOf } from './fact-claims.ts'
import type { ContextLedger } from './ledger.ts'
import { wordsOf } from './prose.ts'
import { type Question, questionsIn } from './questions.ts'

/** Where the user told what a question asks for. */
export type Known = { quote: string; value: string; place: Place; told_at: number; task_id: string }

/** A question of the agent for what the user had told. */
export type AskedAgain = {
  answer: Answer
  question: Question
  known: Known
  /** The agent had asked it before; else the user had told it unasked. */
  was_asked: boolean
}

/** Questions for what is known, in all dialogues of a run: each once. */
export function askedAgain(
  run: TaskRun,
  budget: WorkBudget,
  prior: ContextLedger | undefined,
): AskedAgain[] {
  const dialogues = dialoguesOf(run, prior)
  const known = read.get(dialogues)
  if (known !== undefined) return known
  const found = dialogues.dialogues.flatMap((dialogue) => [
    ...inDialogue(run, dialogue, budget).values(),
  ])
  read.set(dialogues, found)
  return found
}

/** Two detectors ask for it. */
const read = new WeakMap<Dialogues, AskedAgain[]>()

type Reading = {
  run: TaskRun
  dialogue: Dialogue
  budget: WorkBudget
  /** Replies of the user by the words of the question, and all that was asked so far. */
  replies: Map<string, Known>
  asked: Set<string>
  found: Map<string, AskedAgain>
}

function inDialogue(run: TaskRun, dialogue: Dialogue, budget: WorkBudget) {
  const found = new Map<string, AskedAgain>()
  const reading = { run, dialogue, budget, found, replies: new Map(), asked: new Set<string>() }
  for (const answer of dialogue.answers) {
    budget.spend(1)
    if (!answer.step.is_partial && answer.message.text.includes('?')) readAnswer(reading, answer)
  }
  return found
}

function readAnswer(reading: Reading, answer: Answer): void {
  const questions = questionsIn(answer.message)
  for (const question of questions) {
    const again = againIn(reading, answer, question)
    if (again !== undefined && !reading.found.has(question.words)) {
      reading.found.set(question.words, again)
    }
  }
  for (const { words, keys } of questions)
    for (const key of [words, ...keys]) reading.asked.add(key)
  const [question] = questions
  if (question === undefined || questions.length > 1 || answer.step.tools.length > 0) return
  const reply = replyTo(reading, answer)
  if (reply !== undefined) reading.replies.set(question.words, reply)
}

function againIn(reading: Reading, answer: Answer, question: Question): AskedAgain | undefined {
  const { asked, replies } = reading
  const fact = factAskedFor(reading, answer, question)
  const reply = question.is_settled ? replies.get(question.words) : undefined
  const known = fact ?? (reply !== undefined && isLater(reading, reply, answer) ? reply : undefined)
  if (known === undefined || isReopened(reading, known, answer)) return undefined
  const was_asked = [question.words, ...question.keys].some((key) => asked.has(key))
  return { answer, question, known, was_asked }
}

/**
 * The user spoke again since, and only to answer other questions: asking at once once more says that
 * the reply did not do, and a new request may need a reply of its own.
 */
function isLater({ dialogue }: Reading, { told_at }: Known, { at }: Answer): boolean {
  const { heard } = dialogue
  let said = 0
  for (let next = told_at + 1; next < at; next++) {
    if (heard[next]?.role !== 'user') continue
    said++
    if (heard[next - 1]?.role === 'assistant' && !heard[next - 1]?.text.includes('?')) return false
  }
  return said > 0
}

/** A fact of the ledger that the question asks for. */
function factAskedFor(
  { dialogue }: Reading,
  { active }: Answer,
  { keys }: Question,
): Known | undefined {
  if (keys.length === 0) return undefined
  const fact = active.findLast(
    ({ kind, slot, role }) =>
      kind === 'fact' && role === 'user' && keys.includes(slot.slice('fact:'.length)),
  )
  if (fact === undefined) return undefined
  return {
    quote: fact.quote,
    value: factValueOf(fact).normal,
    place: fact.place,
    told_at: dialogue.heard.findIndex(
      ({ role, text }) => role === 'user' && text.includes(fact.quote),
    ),
    task_id: fact.task_id,
  }
}

/** What the user said next, when it tells something: short, no question, not "I don't know". */
function replyTo({ run, dialogue }: Reading, { at }: Answer): Known | undefined {
  const next = dialogue.heard[at + 1]
  const call = next && run.calls[next.call]
  if (next?.role !== 'user' || call === undefined || next.text.includes('?')) return undefined
  const words = wordsOf(next.text.slice(0, reply_chars_max))
  const telling = words.filter((word) => !agreement.has(word))
  if (telling.length === 0 || words.length > reply_words_max || evasive.test(next.text)) {
    return undefined
  }
  const { text } = next
  return { quote: text, value: text, place: placeOf(call), told_at: at + 1, task_id: run.task_id }
}

const reply_words_max = 14
const reply_chars_max = 400
const agreement = new Set(
  'yes no ok okay sure fine please thanks yep nope right correct ja nein danke bitte oui non si sí the it is'.split(
    ' ',
  ),
)
const evasive =
  /\b(?:don't|do not|not sure|no idea|later|skip|unknown|can't|cannot|won't|rather not|wait|hold on|help|nothing|continue|go on|whatever|any|maybe|weiß nicht|egal|keine ahnung)\b/i

/** Something came between that makes asking again right: the value failed, or there is a second one. */
function isReopened({ run, dialogue, budget }: Reading, known: Known, answer: Answer): boolean {
  const { heard, thread } = dialogue
  const between = heard.slice(Math.max(0, known.told_at + 1), answer.at)
  budget.spend(between.length + run.tools.length)
  return (
    between.some(isReopening) ||
    reopens.test(answer.message.text.slice(0, said_chars_max)) ||
    run.tools.some(
      ({ thread: of, fault, step }) =>
        of === thread.index && fault !== null && step !== null && step < answer.step.index,
    )
  )
}

const said_chars_max = 2_000

function isReopening({ role, text }: Message): boolean {
  const said = text.slice(0, said_chars_max)
  if (role === 'user') return opens.test(said)
  return role === 'tool' ? failed.test(said) : reopens.test(said)
}

const opens =
  /\b(?:another|second|different|start over|wrong|chang(?:e|ed|ing)|actually|mistake|one more|instead|forget|correction|also|too|other|ask me|new (?:order|booking|request|question|topic|one|customer|account|trip|reservation|ticket|case|issue)|not (?:that|this)|noch eine?n?|andere[rsn]?|falsch|doch)\b/i
const failed =
  /\b(?:not found|no (?:such|match|result|record|order|booking|user|customer)|invalid|does(?:n't| not) exist|unknown|error|fail(?:ed|ure)?|mismatch|denied|incorrect|expired)\b/i

/** The agent itself says that the value did not do, or that it means the next one. */
const reopens =
  /\b(?:could(?:n't| not) find|can(?:'t|not) find|unable to (?:find|locate)|not found|invalid|doesn't (?:match|exist)|does not (?:match|exist)|no (?:order|booking|account|record)s?\b.{0,20}\b(?:found|with)|isn't valid|is not valid|incorrect|doesn't seem|not quite|wrong|try again|next|second|another|for the other|round|falsch|leider nicht|nochmal)\b/i

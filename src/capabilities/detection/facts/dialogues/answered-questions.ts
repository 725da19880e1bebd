import {
  mentions,
  ownVoiceOf,
  readAskedSlots,
  readToldSlots,
  sentencesOf,
  slotOfName,
  type ToldSlot,
  wordsOf,
} from '../../../provenance/text/index.ts'
import type { ContextMemory, WorkBudget } from '../../contract.ts'
import type { Message, Place, TaskRun, ToolUse } from '../../reconstruction/index.ts'
import { placeOf } from '../finding-parts.ts'
import { remember } from '../remember.ts'
import { factValueOf } from '../statements/values.ts'
import { argumentsOf, wordsOfTool } from '../tools/tool-words.ts'
import { complains } from './complaints.ts'
import { type Answer, type Dialogue, type Dialogues, readDialogues } from './dialogues.ts'
import { type Question, readQuestions } from './questions.ts'
import { isForSlot, isReopened, type SlotQuestion } from './reopened-questions.ts'
import { findRepeatedReply } from './repeated-replies.ts'

/** The user's statement that answers a question. */
type KnownAnswer = {
  quote: string
  value: string
  place: Place
  said_at: number
  task_id: string
}

/** A question of the agent that the user had already answered. */
export type AnsweredQuestion = {
  answer: Answer
  question: Question
  known: KnownAnswer
  /** True if the agent had asked before; false if the user had said it unasked. */
  was_asked: boolean
  /** True if the user then says it again, or says that it was said. */
  is_said_again: boolean
}

/** Returns the already answered questions of all dialogues of a run, each once. */
export function findAnsweredQuestions(
  run: TaskRun,
  budget: WorkBudget,
  prior: ContextMemory | undefined,
): AnsweredQuestion[] {
  const dialogues = readDialogues(run, prior)
  const known = answeredByDialogues.get(dialogues)
  if (known !== undefined) return known
  const found = dialogues.dialogues.flatMap((dialogue) => [
    ...readDialogue(run, dialogue, budget).values(),
  ])
  answeredByDialogues.set(dialogues, found)
  return found
}

/** Cached, because two detectors need them. */
const answeredByDialogues = new WeakMap<Dialogues, AnsweredQuestion[]>()

type DialogueReading = {
  run: TaskRun
  dialogue: Dialogue
  budget: WorkBudget
  /** The user's replies by the words of the question, and all questions so far. */
  replies: Map<string, KnownAnswer>
  asked: Set<string>
  found: Map<string, AnsweredQuestion>
}

function readDialogue(run: TaskRun, dialogue: Dialogue, budget: WorkBudget) {
  const found = new Map<string, AnsweredQuestion>()
  const reading = { run, dialogue, budget, found, replies: new Map(), asked: new Set<string>() }
  for (const answer of dialogue.answers) {
    budget.spend(1)
    if (answer.step.is_partial || !mayAsk(answer.message)) continue
    readAnswer(reading, answer)
    const again = readReply(reading, answer)
    if (again !== undefined) found.set(`reply ${answer.step.index}`, again)
  }
  return found
}

/** Finds a question that no slot names, by a reply that only repeats what the user had said. */
function readReply(reading: DialogueReading, answer: Answer): AnsweredQuestion | undefined {
  const { run, dialogue, budget, found } = reading
  if ([...found.values()].some((one) => one.answer === answer)) return undefined
  budget.spend(answer.at)
  const repeated = findRepeatedReply(dialogue, answer)
  const call = repeated && run.calls[repeated.said.call]
  if (repeated === undefined || call === undefined) return undefined
  const { sentence, value, said, isComplaint } = repeated
  const question = { sentence, words: sentence.toLowerCase(), keys: [], is_settled: true }
  const said_at = dialogue.messages.indexOf(said)
  const known = { quote: said.text, value, place: placeOf(call), said_at, task_id: run.task_id }
  if (isReopened(reading, { known, answer, question })) return undefined
  return { answer, question, known, was_asked: false, is_said_again: isComplaint }
}

/** Answers without any of these ask for nothing. */
const mayAsk = remember(({ text }: Message) => asking.test(text))

const asking =
  /[?？]|\b(?:need|require|please|kindly|tell me|give me|let me|share|provide|bitte|brauche|benötige|nennen|veuillez|merci de|besoin|indique|necesito|facilite|por favor)\b|请|ください/i

function readAnswer(reading: DialogueReading, answer: Answer): void {
  const questions = [...readQuestions(answer.message), ...slotQuestionsOf(reading, answer)]
  for (const question of questions) {
    if (isForSlot(question) && isFound(reading, answer, question)) continue
    const again = findAnswered(reading, answer, question)
    if (again !== undefined && !reading.found.has(question.words)) {
      reading.found.set(question.words, again)
    }
  }
  for (const { words, keys } of questions)
    for (const key of [words, ...keys]) reading.asked.add(key)
  const [question] = questions.filter((asked) => !isForSlot(asked))
  if (
    question === undefined ||
    readQuestions(answer.message).length > 1 ||
    answer.step.tools.length > 0
  )
    return
  const reply = findReply(reading, answer)
  if (reply !== undefined) reading.replies.set(question.words, reply)
}

function findAnswered(
  reading: DialogueReading,
  answer: Answer,
  question: Question | SlotQuestion,
): AnsweredQuestion | undefined {
  const { asked, replies } = reading
  const fact = isForSlot(question)
    ? findToldSlot(reading, answer, question)
    : findAskedFact(reading, answer, question)
  const reply = question.is_settled ? replies.get(question.words) : undefined
  const known = fact ?? (reply !== undefined && isLater(reading, reply, answer) ? reply : undefined)
  if (known === undefined || isReopened(reading, { known, answer, question })) return undefined
  const was_asked = [question.words, ...question.keys].some((key) => asked.has(key))
  return { answer, question, known, was_asked, is_said_again: isSaidAgain(reading, answer, known) }
}

function isSaidAgain(
  { dialogue }: DialogueReading,
  { message }: Answer,
  known: KnownAnswer,
): boolean {
  const at = dialogue.messages.indexOf(message)
  const reply = dialogue.messages.slice(at + 1).find(({ role }) => role === 'user')
  if (at === -1 || reply === undefined) return false
  return mentions(reply.text, known.value) || complains(reply.text)
}

/** Tells whether the sentence of a question was found as another question. */
function isFound({ found }: DialogueReading, answer: Answer, { sentence }: Question): boolean {
  return [...found.values()].some(
    (one) => one.answer === answer && one.question.sentence === sentence,
  )
}

function slotQuestionsOf({ found }: DialogueReading, { message }: Answer): SlotQuestion[] {
  return askedSlotsOf(message)
    .filter(({ key }) => !found.has(`slot ${key}`))
    .map(({ sentence, key }) => ({
      sentence,
      words: `slot ${key}`,
      keys: [key],
      is_settled: false,
      slot: key,
    }))
}

const askedSlotsOf = remember(({ text }: Message) => readAskedSlots(sentencesOf(ownVoiceOf(text))))
const toldSlotsOf = remember(({ text }: Message) => readToldSlots(sentencesOf(text)))

/** Returns the slots of a call's arguments whose values a text of the user has. */
function readUsedSlots(use: ToolUse, said: string): ToldSlot[] {
  return Object.entries(argumentsOf(use)).flatMap(([name, value]) => {
    const text = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
    const key = text.length < 2 ? undefined : slotOfName(wordsOfTool(name).join(' '))
    return key === undefined || !mentions(said, text) ? [] : [{ key, value: text, quote: said }]
  })
}

/** Returns the only value that the user gave for a slot, in words or as the agent used it. */
function findToldSlot(
  { run, dialogue, budget }: DialogueReading,
  { at, step, message }: Answer,
  { slot, sentence }: SlotQuestion,
): KnownAnswer | undefined {
  const before = dialogue.messages.slice(0, at)
  const uses = run.tools.filter((use) => use.step !== null && use.step < step.index)
  budget.spend(before.length * (1 + uses.length))
  const told = before.flatMap((said, said_at) => {
    if (said.role !== 'user' || said.is_harness === true) return []
    const slots: ToldSlot[] = [
      ...toldSlotsOf(said),
      ...uses.flatMap((use) => readUsedSlots(use, said.text)),
    ]
    return slots.filter(({ key }) => key === slot).map((one) => ({ ...one, said, said_at }))
  })
  const [first] = told
  const call = first && run.calls[first.said.call]
  if (first === undefined || call === undefined) return undefined
  const values = new Set(told.map(({ value }) => plainValue(value)))
  const isShown = [...values].some((value) => plainValue(message.text).includes(value))
  if (values.size > 1 || isShown || mentions(sentence, first.value)) return undefined
  const { value, quote, said_at } = first
  return { value, quote, said_at, place: placeOf(call), task_id: run.task_id }
}

function plainValue(value: string): string {
  return value.toLowerCase().replace(/[^\p{L}\p{N}@]/gu, '')
}

/**
 * Tells whether the user has spoken since, but only to answer other questions. An immediate
 * repetition shows that the reply was insufficient, and a new request can need a new reply.
 */
function isLater({ dialogue }: DialogueReading, { said_at }: KnownAnswer, { at }: Answer): boolean {
  const { messages } = dialogue
  let said = 0
  for (let next = said_at + 1; next < at; next++) {
    if (messages[next]?.role !== 'user' || messages[next]?.is_harness === true) continue
    said++
    if (messages[next - 1]?.role === 'assistant' && !messages[next - 1]?.text.includes('?'))
      return false
  }
  return said > 0
}

/** Returns the remembered fact that the question asks for. */
function findAskedFact(
  { dialogue }: DialogueReading,
  { active }: Answer,
  { keys }: Question,
): KnownAnswer | undefined {
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
    said_at: dialogue.messages.findIndex(
      ({ role, text }) => role === 'user' && text.includes(fact.quote),
    ),
    task_id: fact.task_id,
  }
}

/** Returns the user's next message if it is a reply: short, not a question, not evasive. */
function findReply({ run, dialogue }: DialogueReading, { at }: Answer): KnownAnswer | undefined {
  const next = dialogue.messages[at + 1]
  const call = next && run.calls[next.call]
  if (next?.role !== 'user' || next.is_harness === true || call === undefined) return undefined
  if (next.text.includes('?')) return undefined
  const words = wordsOf(next.text.slice(0, reply_chars_max))
  const telling = words.filter((word) => !agreement.has(word))
  if (telling.length === 0 || words.length > reply_words_max || evasive.test(next.text)) {
    return undefined
  }
  const { text } = next
  return { quote: text, value: text, place: placeOf(call), said_at: at + 1, task_id: run.task_id }
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

import { mentions, sentencesOf, wordsOf } from '../../../provenance/text/index.ts'
import type { WorkBudget } from '../../contract.ts'
import type { Message, TaskRun } from '../../reconstruction/index.ts'
import type { Answer, Dialogue } from './dialogues.ts'
import type { Question } from './questions.ts'

/** A question for the value of a slot that the user had given. */
export type SlotQuestion = Question & { slot: string }

/** Tells whether a question is for the value of a slot. */
export function isForSlot(question: Question | SlotQuestion): question is SlotQuestion {
  return 'slot' in question
}

/**
 * Tells whether something since the reply justifies asking again: the value failed, or a second one
 * is needed.
 */
export function isReopened(
  { run, dialogue, budget }: { run: TaskRun; dialogue: Dialogue; budget: WorkBudget },
  { known, answer, question }: { known: { said_at: number }; answer: Answer; question: Question },
): boolean {
  const { messages, thread } = dialogue
  const between = messages.slice(Math.max(0, known.said_at + 1), answer.at)
  budget.spend(between.length + run.tools.length)
  return (
    between.some((message) => isReopening(message, question)) ||
    isReopenedBy(answer.message.text, question) ||
    run.tools.some(
      ({ thread: of, fault, step }) =>
        of === thread.index && fault !== null && step !== null && step < answer.step.index,
    )
  )
}

const reopening_chars_max = 2_000

function isReopening({ role, text, is_harness = false }: Message, question: Question): boolean {
  if (is_harness) return false
  const said = text.slice(0, reopening_chars_max)
  if (role === 'user') return userReopens.test(said) || isChanged(said, question)
  return role === 'tool' ? toolFails.test(said) : isReopenedBy(said, question)
}

function isReopenedBy(text: string, question: Question | SlotQuestion): boolean {
  const said = text.slice(0, reopening_chars_max)
  return agentRejects.test(said) || (!isForSlot(question) && agentGoesOn.test(said))
}

/** The user begins another matter, for which the agent may ask everything again. */
const userReopens =
  /\b(?:another|second|start over|one more|ask me|new (?:order|booking|request|question|topic|one|customer|account|trip|reservation|ticket|case|issue)|not (?:that|this)|noch eine?n?|andere[rsn]?)\b/i

/**
 * Tells whether the user changes the answer to a question: the sentence with a word of change has a
 * value, is about the question, or says nothing else. “I need a receipt too” changes nothing.
 */
function isChanged(said: string, { words, keys }: Question): boolean {
  if (!changeWords.test(said)) return false
  const topics = [...keys, ...words.split(' ').filter((word) => word.length >= topic_chars_min)]
  return sentencesOf(said).some(
    (sentence) =>
      changeWords.test(sentence) &&
      (/[\d@]/.test(sentence) ||
        wordsOf(sentence).length <= remark_words_max ||
        topics.some((topic) => mentions(sentence, topic))),
  )
}

const topic_chars_min = 4
const remark_words_max = 4
const changeWords =
  /\b(?:different|wrong|chang(?:e|ed|ing)|actually|mistake|instead|forget|correction|also|too|other|falsch|doch)\b/i

const toolFails =
  /\b(?:not found|no (?:such|match|result|record|order|booking|user|customer)|invalid|does(?:n't| not) exist|unknown|error|fail(?:ed|ure)?|mismatch|denied|incorrect|expired)\b/i

/** The agent says that the value did not work. */
const agentRejects =
  /\b(?:could(?:n't| not) find|can(?:'t|not) find|unable to (?:find|locate)|not found|invalid|doesn't (?:match|exist)|does not (?:match|exist)|no (?:order|booking|account|record)s?\b.{0,20}\b(?:found|with)|isn't valid|is not valid|incorrect|doesn't seem|not quite|wrong|try again|falsch|leider nicht|nochmal)\b/i

/** The agent means the next thing. */
const agentGoesOn = /\b(?:next|second|another|for the other|round)\b/i

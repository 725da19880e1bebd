import { sentencesOf } from '../../../../provenance/text/index.ts'
import type { Statement } from '../../../contract.ts'
import type { AnswerText } from './answer-text.ts'
import { type Breach, toBreach } from './breach.ts'

/**
 * Checks that an answer is not about a topic. The rule is broken if two sentences name the topic and do
 * not decline: one mention is allowed. Whether an answer is about nothing else cannot be checked by words.
 */
export function checkTopic({ slot, value }: Statement, { voice }: AnswerText): Breach | undefined {
  const topic = slot.slice('topic:'.length)
  if (value !== 'none') return undefined
  const naming = sentencesOf(voice)
    .flatMap((sentence) => sentence.split(/(?<=[。！？])/u))
    .filter((sentence) => names(sentence, topic) && !declines.test(sentence))
  const [first] = naming
  if (first === undefined || naming.length < sentences_min) return undefined
  return toBreach(`The answer is about "${topic}": ${first.trim().slice(0, 200)}`, 0.75)
}

const sentences_min = 2

/** Tells whether a text has all words of a topic, as they are or as the beginning of a word. */
function names(text: string, topic: string): boolean {
  const low = text.toLowerCase()
  return topic.split(' ').every((word) => low.includes(word))
}

const declines =
  /(?<!\p{L})(?:can't|cannot|can’t|won't|won’t|unable|not able|not allowed|don't|do not|don’t|sorry|apologi\p{L}*|outside|rather not|instead|nicht|keine?n?|leider|statt|ne|n'|pas|désolée?|plutôt|no|lo siento|prefiero|en lugar)(?!\p{L})|不能|无法|不会|抱歉|对不起|できません|できない|控え|申し訳|お答え/iu

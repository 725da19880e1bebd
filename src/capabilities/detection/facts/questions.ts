import type { Message } from '../reconstruction/index.ts'
import { ownVoiceOf, sentencesOf, wordsOf } from './prose.ts'
import { remember } from './remember.ts'
import { factKey } from './statements/values.ts'

/** A question in an answer: its significant words, and the facts it asks for. */
export type Question = {
  sentence: string
  /** The words of the question in order, without polite phrases. */
  words: string
  /** Keys of the facts that it asks for. */
  keys: readonly string[]
  /**
   * True if the reply cannot change: the question is not about changing things, next steps, or
   * consent.
   */
  is_settled: boolean
}

/** Returns the questions of an answer in its own voice. */
export const readQuestions: (message: Message) => readonly Question[] = remember(({ text }) =>
  sentencesOf(ownVoiceOf(text))
    .filter((sentence) => isQuestion(sentence) || isRequest(sentence))
    .slice(0, questions_max)
    .flatMap((sentence) => {
      const words = selectSignificantWords(sentence).join(' ')
      if (words === '') return []
      const keys = other.test(sentence) ? [] : keysOf(sentence)
      return [
        { sentence, words, keys, is_settled: isQuestion(sentence) && !changing.test(sentence) },
      ]
    }),
)

const questions_max = 20

function isQuestion(sentence: string): boolean {
  return /[?？]["'”’)\]]*$/.test(sentence)
}

function isRequest(sentence: string): boolean {
  return /^(?:please|kindly)\b.{0,40}\b(?:provide|share|tell|give|send|enter|specify|state)\b|^(?:i(?:'ll)? (?:still )?need|i will need|tell me|give me|let me know)\b/i.test(
    sentence,
  )
}

/** Questions for another value or for consent ask for no known fact. */
const other =
  /\b(?:confirm|verify|correct|double[- ]check|new|another|other|different|second|third|next|alternative|instead|else|still|right|change|update|^(?:is|are|does|has|do|did|was) your|how (?:is|was|are|were)|what about|why|error|spell|with your|of your (?:choice|own))\b|\b(?:to|about|for|on|from|in|with) your\b/i

/** Topics whose reply can change when asked again. */
const changing =
  /\b(?:now|still|yet|else|anything|something|more|next|another|other|this|that|these|those|it|them|he|she|they|proceed|continue|confirm|correct|ready|shall|should|may i|can i|can you|could you|want me|like me|help|ok|okay|answer|guess|move|turn|choice|choose|try|again|today|further|feel|feeling|think|see|done|work|works|happen\w*|jetzt|noch|soll|darf|kann ich|sonst|weiter|heute|richtig|fertig)\b/i

const polite = new Set(
  'please could can would your you the a an of to me my provide share tell give need know let us so and just also then on in at by with be kindly get sure thanks thank ok okay again exactly send specify state enter ask remind first great now well before continue help'.split(
    ' ',
  ),
)

function selectSignificantWords(sentence: string): string[] {
  const telling = wordsOf(sentence).filter((word) => !polite.has(word.replace(/['’].*$/, '')))
  return telling.slice(0, words_max)
}

const words_max = 20

const asked =
  /\b(?:your|the)(?: (?:full|current|exact|complete|correct|total))? ([a-z]{2,20}(?: [a-z]{2,20}){0,2})/gi
const keys_max = 6

/** Returns the keys asked for by "your order number", "how many people", "what name". */
function keysOf(sentence: string): string[] {
  const keys = new Set<string>()
  for (const [, words = ''] of sentence.matchAll(asked)) {
    for (const key of prefixesOf(words)) keys.add(key)
    if (keys.size >= keys_max) break
  }
  if (/\bhow many (?:people|persons|guests|adults|passengers|participants)\b/i.test(sentence))
    keys.add('people')
  if (/\bhow old are you\b/i.test(sentence)) keys.add('age')
  if (
    /\bwhat (?:city|town) (?:are|do) you\b.{0,20}\b(?:live|based|located)\b|\bwhere do you live\b/i.test(
      sentence,
    )
  )
    keys.add('city')
  return [...keys]
}

function prefixesOf(words: string): string[] {
  const all = words.split(' ')
  return all.flatMap((_word, at) => factKey(all.slice(0, at + 1).join(' ')) ?? [])
}

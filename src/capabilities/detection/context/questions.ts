import { remember } from '../evidence/remember.ts'
import type { Message } from '../reconstruction/contract.ts'
import { ownVoiceOf, sentencesOf, wordsOf } from './prose.ts'
import { factKey } from './read-facts.ts'

/** A question for something that the user knows: its words that tell, and what it asks for. */
export type Question = {
  sentence: string
  /** The words that tell what is asked, sorted: `city flying from`. */
  words: string
  /** Keys of facts that it asks for. */
  keys: readonly string[]
}

/** The questions of an answer that ask the user for a value; other questions are no matter. */
export const questionsIn: (message: Message) => readonly Question[] = remember(({ text }) =>
  sentencesOf(ownVoiceOf(text)).flatMap((sentence) => {
    if (!isRequest(sentence) || other.test(sentence)) return []
    const words = tellingWords(sentence)
    return words.length === 0 ? [] : [{ sentence, words: words.join(' '), keys: keysOf(sentence) }]
  }),
)

function isRequest(sentence: string): boolean {
  if (/\?["'”’)\]]*$/.test(sentence)) return asks.test(sentence)
  return /^(?:please|kindly)\b.{0,40}\b(?:provide|share|tell|give|send|enter|specify|state)\b|^(?:i(?:'ll)? (?:still )?need|i will need|tell me|give me|let me know)\b/i.test(
    sentence,
  )
}

const asks =
  /\b(?:what(?:'s| is| are| was| will| city| date| day| time)?|which|where|when|who|how (?:many|much|old|long)|(?:can|could|would|may|will) (?:you|i) (?:please |kindly )?(?:provide|share|tell|give|send|have|get|ask|specify|state|remind))\b/i

/** Questions for another value, or for a word of agreement, are asked again rightly. */
const other =
  /\b(?:confirm|verify|correct|double[- ]check|new|another|other|different|second|third|next|alternative|instead|else|still|right|change|update|prefer(?:red)?|like to|want|rather|think|feel|help|answer|guess|choice|move|pick|turn|option|happen(?:s|ed)?|error|see|mean|again because|spell)\b/i

const polite = new Set(
  'please could can would you your you’re are is was will the a an of for to me i my it that this do does have has may what which where when who how many much provide share tell give need know let us so and just also then on in at by with be kindly get sure thanks thank ok okay again exactly send specify state enter ask remind first great now well before continue help'.split(
    ' ',
  ),
)

function tellingWords(sentence: string): string[] {
  const telling = wordsOf(sentence).filter((word) => !polite.has(word.replace(/['’].*$/, '')))
  return [...new Set(telling)].sort().slice(0, words_max)
}

const words_max = 12

const asked =
  /\b(?:your|the)(?: (?:full|current|exact|complete|correct|total))? ([a-z]{2,20}(?: [a-z]{2,20}){0,2})/gi
const keys_max = 6

/** "your order number", and what "how many people" and "what name" ask for. */
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

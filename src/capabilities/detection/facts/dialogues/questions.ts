import { ownVoiceOf, sentencesOf, wordsOf } from '../../../provenance/text/index.ts'
import type { Message } from '../../reconstruction/index.ts'
import { remember } from '../remember.ts'
import { readAskedKeys } from '../statements/values.ts'

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
      const keys = isForValue(sentence) ? readAskedKeys(sentence) : []
      return [{ sentence, words, keys, is_settled: isSettled(sentence) }]
    }),
)

const questions_max = 20

/** Tells whether a question asks for something that stays the same, and not for consent. */
function isSettled(sentence: string): boolean {
  return isQuestion(sentence) && !changing.test(sentence) && !consent.test(sentence)
}

/** Asks whether something is right, or may be done: a question about a proposal, not about a fact. */
const consent =
  /^(?:(?:and|so|then|but|great|perfect|sure|thanks?|ok(?:ay)?),? )?(?:would you (?:like|prefer|want)|do you (?:want|wish|agree|accept)|are you (?:sure|happy|fine)|would (?:that|it|this)|will that|is (?:that|this|it)|are (?:those|these)|does (?:that|this|it)|have i|did i|möchten sie|möchtest du|wollen sie|soll(?:en)? (?:ich|wir)|passt|stimmt|voulez-vous|souhaitez-vous|c'est|quiere|desea|le parece)\b|^(?:and )?(?:right|all right|alright|agreed|yes|no|shall we|deal|good|so|einverstanden|in ordnung|d'accord|de acuerdo|vale)\W*$|(?:,| –| —|-) ?(?:right|correct|yes|no|ok|okay|is it|isn't it|nicht wahr|oder|n'est-ce pas|verdad)\W*$/i

/** Tells whether a sentence asks for a value: by a question word, by a request, or by its name alone. */
function isForValue(sentence: string): boolean {
  if (other.test(sentence) || consent.test(sentence)) return false
  return isRequest(sentence) || wanting.test(sentence)
}

/** Words that ask for a value. A question without one (“is your flight full?”) asks about it. */
const wanting =
  /\b(?:what|which|when|where|who|whose|how|may i (?:have|get|know|ask|see)|(?:can|could|may) i (?:please )?(?:have|get|take|note)|(?:can|could|will|would) you (?:please |kindly |also |just |first )*(?:provide|share|tell|give|send|enter|specify|state|remind|let|type|repeat|name|write)|do you (?:have|know|remember)|need|provide|tell me|give me)\b|^(?:and )?(?:your|the) /i

function isQuestion(sentence: string): boolean {
  return /[?？]["'”’)\]]*$/.test(sentence)
}

function isRequest(sentence: string): boolean {
  return /(?:^|, )(?:please|kindly)\b.{0,40}\b(?:provide|share|tell|give|send|enter|specify|state)\b|(?:^|, |\b(?:but|so|first|then) )(?:i(?:'ll)? (?:still |also )?need|i will need|tell me|give me|let me know)\b/i.test(
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

import { asksForValue, ownVoiceOf, sentencesOf } from '../../../provenance/text/index.ts'
import type { Message } from '../../reconstruction/index.ts'
import { remember } from '../remember.ts'
import { complains } from './complaints.ts'
import type { Answer, Dialogue } from './dialogues.ts'

/** A question, the user's reply that says nothing new, and the earlier message that said the same. */
type RepeatedReply = { sentence: string; value: string; said: Message; isComplaint: boolean }

/**
 * Finds a question of an answer whose reply only has values that the user had written before: numbers,
 * addresses and names. No list of slots is needed, and the question can be in any language.
 */
export function findRepeatedReply(
  { messages }: Dialogue,
  { at, message }: Answer,
): RepeatedReply | undefined {
  const reply = messages[at + 1]
  const sentence = valueQuestionOf(message)
  if (sentence === undefined || reply === undefined || !isOfUser(reply)) return undefined
  if (reply.text.length > reply_chars_max || /[?？]/.test(reply.text)) return undefined
  const { values, words } = tokensOf(reply)
  const isComplaint = complains(reply.text)
  const earlier = messages.slice(0, at).filter(isOfUser)
  const told = new Set(earlier.flatMap((said) => [...tokensOf(said).all]))
  const shown = tokensOf(message).all
  const repeated = [...values, ...words].filter((token) => told.has(token) && !shown.has(token))
  const isNew = [...values].some((token) => !told.has(token) || shown.has(token))
  const news = [...words].filter((token) => !told.has(token)).length
  if (isNew || news > (isComplaint ? remark_words_max : 1)) return undefined
  if (!isTelling(repeated, values, isComplaint)) return undefined
  const said = earlier.find((one) => tokensOf(one).all.has(repeated[0] ?? ''))
  return said && { sentence, value: repeated.join(' '), said, isComplaint }
}

/** Maximum characters of a reply, and new words of a complaint. */
const reply_chars_max = 160
const remark_words_max = 6

/** Tells whether repeated tokens are hardly by chance: a long number, an address, two of them, or a complaint. */
function isTelling(
  repeated: readonly string[],
  values: ReadonlySet<string>,
  isComplaint: boolean,
): boolean {
  const ofValues = repeated.filter((token) => values.has(token))
  if (ofValues.some((token) => token.length > 1) || ofValues.length > 1) return true
  return repeated.length > 1 || (isComplaint && repeated.length > 0)
}

const valueQuestionOf = remember(({ text }: Message) =>
  text.includes('?') || text.includes('？')
    ? sentencesOf(ownVoiceOf(text)).find((one) => /[?？]\W*$/.test(one) && asksForValue(one))
    : undefined,
)

function isOfUser({ role, is_harness }: Message): boolean {
  return role === 'user' && is_harness !== true
}

type Tokens = { values: ReadonlySet<string>; words: ReadonlySet<string>; all: ReadonlySet<string> }

/** The numbers and addresses of a message, and its longer words. */
const tokensOf = remember(({ text }: Message): Tokens => {
  const plain = text
    .slice(0, text_chars_max)
    .toLowerCase()
    .replace(/(?<=\d)[.,' ](?=\d{3}(?!\d))/g, '')
  const values = new Set<string>()
  const words = new Set<string>()
  for (const [token] of plain.matchAll(/[\w.+-]{1,64}@[\w.-]{1,64}\w|[\p{L}\p{N}]+/gu)) {
    if (/[\d@]/.test(token)) values.add(token.replace(/^(\d+)(?:st|nd|rd|th|er?|km|kg|€)$/, '$1'))
    else if (token.length >= word_chars_min && !remarks.has(token)) words.add(token)
  }
  return { values, words, all: values.union(words) }
})

const text_chars_max = 4_000
const word_chars_min = 4

/** Words that reply to something without saying a value. */
const remarks = new Set(
  'please thanks thank sure okay that this with from have said above already wrote same still bitte danke oben schon gesagt steht merci déjà plus gracias vale favor dije'.split(
    ' ',
  ),
)

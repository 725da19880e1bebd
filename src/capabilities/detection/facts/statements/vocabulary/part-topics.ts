import type { Polarity } from '../sentence/polarity.ts'
import type { Topic } from './topics.ts'

/**
 * Tells whether a form is that of a part of the answer, or is only named beside the form that is
 * asked for: "at most ten words in capitals", "no punctuation at the end", "bullets instead of
 * tables".
 */
export function isOfAPart(
  { slot, some }: Topic,
  polarity: Polarity,
  { left, right }: { left: string; right: string },
): boolean {
  if (slot === 'case') return ofSomeWords.some((words) => words.test(left)) || ofNames.test(right)
  if (slot === 'table' && polarity === 'some') return compound.test(right)
  if (slot === 'letter') return ofListed.test(left)
  if (polarity !== 'none') return false
  if (some !== undefined && !slot.startsWith('sign:') && insteadOf.test(left)) return true
  if (slot === 'question') return atTheEnd.test(left)
  return (
    slot.startsWith('sign:') &&
    (atAPlace.test(right) || (slot.length > one_sign && like.test(right)))
  )
}

/** Length of the slot of one or two signs; longer ones are those of a family of signs. */
const one_sign = 'sign:()'.length

const ofSomeWords: readonly RegExp[] = [
  /(?:with|has|have|contains?|including|gets?) (?:an?|one|the) (?!word)\p{L}+ (?:written |all )?in\s*$/iu,
  /(?<!\p{L})(?<!(?:each|every|all|all of the|all your|your|the) )(?:words?|letters|titles?|names?|headings?|acronyms?)(?:,? (?!and (?!phrases)|or (?!phrases))\p{L}+){0,7}\W*$/iu,
]
const ofNames = /^[ -](?:words?|names?|terms|titles?|headings?)(?!\p{L})/iu
/** "A list of words without the letter e", "five names with no x". */
const ofListed =
  /(?<!\p{L})(?:lists? of|\d+|some|two|three|four|five|six|ten) (?:\p{L}+ ){0,2}\p{L}+s (?:without|with no|that|which|containing no)[^,;]*$/iu
const insteadOf = /(?:instead of|rather than|in (?:place|lieu) of)(?: an?| the)?\s*$/i
/** "Do not end with a question." */
const atTheEnd = /(?<!\p{L})(?:end|close|finish|conclude|ends|sign off)(?: \p{L}+){0,4}\s*$/iu
/** "Table arrangements", "table reservations". */
const compound = /^ (?!is|as|has|was|plus|thus|unless|always)\p{L}{2,}s(?!\p{L})/iu
const atAPlace = /^ (?:at|in) the (?:very )?(?:end|start|beginning)(?!\p{L})/iu
const like = /^,? (?:like|such as|e\.g)(?!\p{L})/iu

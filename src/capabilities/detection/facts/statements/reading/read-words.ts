import type { Statement } from '../../../contract.ts'
import { findBanBehind } from '../sentence/pointing.ts'
import { isDoubleNegative, isNegative, polarityOf } from '../sentence/polarity.ts'
import type { Segment } from '../sentence/segments.ts'
import { type Range, rangeText } from '../vocabulary/amounts.ts'
import { clauseBefore, isForbidden } from './phrase-bans.ts'
import { placeOf } from './phrase-places.ts'
import { type Group, groupsOf, wordNoun } from './phrases.ts'
import { countOf } from './read-times.ts'

/** Reads words that answers must have, start with, end with, or not have. */
export function readWords(segment: Segment): Statement[] {
  return groupsOf(segment).flatMap((group) =>
    isAskedOf(segment, group) ? statementsOf(segment, group) : [],
  )
}

/** "I hate ⟦0⟧, don't use it": the words that forbid are asked for. */
function isAskedOf({ text, isAskedAt }: Segment, { start, right }: Group): boolean {
  const ban = findBanBehind(text, text.length - right.length)
  return isAskedAt(start) || (ban !== undefined && isAskedAt(ban))
}

const nounBefore = new RegExp(`(?<!\\p{L})${wordNoun}[\\s:,(]*$`, 'iu')
const noun = `(?:(?:the|a|an|this|these|my|our|your|its|der|die|das|den|dem|la|las|el|le|les|l'|exactly|exact|single|following|same|closing|opening) ?){0,3}(?:${wordNoun}(?: of)?)?[\\s:,(]*`
const requires = new RegExp(
  `(?<![\\p{L}])(?:use|include|mention|contain|say|write|have|work in|add|carry|weave|sprinkle|throw|squeeze|drop|put|insert|feature|slip|incorporate|state|append|needs?|call|repeat|verwend|benutz|nutz|erwähn|enthalt|enthält|sag|schreib|füg|usa|use|usar|utiliza|incluy|incluye|menciona|conten|contien|utilise|emplo|inclu|mentionn|contien|conteni|dis|place)\\p{L}*(?: [\\p{L}'-]+){0,6}?[\\s:]*${noun}$|(?:包含|使用|用上?|提到|写上?|加上?|出现)[^,,。]{0,8}$`,
  'iu',
)
const requiresAfter =
  /^\s*(?:(?:must|should|has to|have to|needs to|need to|shall|is to|are to) (?!not|never)(?:\p{L}+ )?(?:appear|occur|figure|feature|come up|show up|turn up|stand|be (?:there|present|found|in|used|mentioned|included|part))|(?:belongs|appears|occurs|figures|features|comes up|goes|is) (?:somewhere )?in (?:every|each|all|any|your)|(?:in|into|somewhere in) (?:it |them )?(?:in )?(?:every|each|all) (?:\p{L}+)|kommt in jede\p{L}* \p{L}+ .{0,20}vor|kommt vor|を(?:必ず)?(?:入れ|使っ|含め)|という(?:言葉|単語)を(?:入れ|使っ|含め)|(?:muss|soll) .{0,30}(?:vorkommen|enthalten|stehen))/iu
function statementsOf(segment: Segment, group: Group): Statement[] {
  const { left, right, phrases } = group
  if (phrases.some(isTemplate) || ofLetter.test(left)) return []
  const count = countOf(right) ?? countOf(left.slice(-30), true)
  const clause = clauseBefore(left)
  const isNeeded = isDoubleNegative(clause)
  if (!isNeeded && isForbidden(segment, group)) return forbidAll(segment, group, count)
  if (polarityOf(clause, '') === 'none') return []
  if (count !== undefined) return usesOf(segment, phrases, count)
  if (!isNeeded && isNegative(clause)) return []
  const where = placeOf(segment, group)
  if (where === undefined) {
    return isNeeded || isRequired(segment, group) ? usesOf(segment, phrases, { min: 1 }) : []
  }
  return isOneOf(group) ? [] : [requiredAt(segment, where, phrases[0] ?? '')]
}

function forbidAll(
  segment: Segment,
  { left, right, phrases }: Group,
  count: Range | undefined,
): Statement[] {
  if (placed.test(left + right)) return []
  return count === undefined
    ? phrases.map((phrase) => forbid(segment, phrase))
    : usesOf(segment, phrases, notMore(count))
}

/** A word that is forbidden at one place only is not checked. */
const placed =
  /(?:start|begin|open|end|finish|clos)\p{L}*(?: [\p{L}'-]+){0,5} (?:with|by)\s*(?:the (?:word|phrase))?\s*$|at the (?:start|beginning|end)/iu

/** Tells whether one of several phrases is asked for: "start with ⟦0⟧ or ⟦1⟧". */
function isOneOf({ phrases }: Group): boolean {
  return phrases.length > 1
}

const ofLetter = /(?:letters?|vowel|consonant|buchstaben?|letra|lettre|字母|文字)[\s:]*$/iu

function isTemplate(phrase: string): boolean {
  return /[[\]{}<>]|(?:\.\.\.|…)\s*\S/.test(phrase)
}

/** "Do not use it more than once", "do not use it twice". */
function notMore({ min = 1, max = min - 1 }: Range): Range {
  return { max }
}

function isRequired({ holds, text }: Segment, { left, right, isQuoted }: Group): boolean {
  if (requiresAfter.test(right)) return true
  if (
    !requires.test(left) ||
    isGiven.test(left) ||
    /\b(?:tool|function|command|file|field|instead of)\b/i.test(text)
  )
    return false
  if (nounBefore.test(left)) return true
  return (
    isQuoted &&
    holds === 'always' &&
    /(?:answers?|repl|respon|messages?|posts?|texts?|time|conversation|chat|each|antwort|respuesta|réponse|回复|回答|消息|返事)/i.test(
      text,
    ) &&
    (!/(?<![\p{L}])use[\s:]*$/iu.test(left) || /(?:in|per) (?:each|every|all)/i.test(text))
  )
}

/** A quoted text to work on: "complete the following sentence". */
const isGiven =
  /(?<!\p{L})(?:use|usage|mention|repetition) of (?:the )?(?:words?|terms?|phrases?)?\s*$|(?<!\p{L})(?:following|this|these) (?:\p{L}+ )?(?:sentences?|texts?|lines?|paragraphs?|quotes?|poems?|words)(?!\p{L})/iu

function usesOf(segment: Segment, phrases: readonly string[], range: Range): Statement[] {
  return phrases.map((value) => ({
    kind: 'required',
    slot: `uses:${value.toLowerCase()}`,
    value: `${rangeText(range)} ${value}`,
    holds: segment.holds,
    quote: segment.sentence,
  }))
}

/** Makes the statement that answers start or end with a phrase. */
export function requiredAt(
  { holds, sentence }: Segment,
  where: 'start' | 'end',
  value: string,
): Statement {
  return { kind: 'required', slot: `required:${where}`, value, holds, quote: sentence }
}

/** Makes the statement that answers do not have a phrase. */
export function forbid({ holds, sentence }: Segment, value: string): Statement {
  return {
    kind: 'forbidden',
    slot: `forbidden:${value.toLowerCase()}`,
    value,
    holds,
    quote: sentence,
  }
}

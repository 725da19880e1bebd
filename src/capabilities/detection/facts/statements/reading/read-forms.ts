import type { Statement } from '../../../contract.ts'
import { findBanBehind } from '../sentence/pointing.ts'
import type { Polarity } from '../sentence/polarity.ts'
import { phrasesIn } from '../sentence/quotes.ts'
import type { Segment } from '../sentence/segments.ts'
import { isBareTopic } from '../vocabulary/bare-topics.ts'
import { isOfAPart } from '../vocabulary/part-topics.ts'
import { findMarks, findTopics, type TopicHit } from './find-topics.ts'
import { polaritiesOf } from './polarities.ts'

/** Reads the form that answers must have: JSON, no emoji, no commas, one letter case. */
export function readForms(segment: Segment): Statement[] {
  const { text } = segment
  if (isAnswer.test(text)) return readHead(segment)
  const hits = [...findTopics(text), ...findMarks(segment)].sort((a, b) => a.start - b.start)
  const polarities = polaritiesOf(segment, hits)
  return hits.flatMap((hit, at) => {
    if (isBareHead(segment, hit)) return []
    const ban = banBehind(segment, hit)
    const isAsked = segment.isAskedAt(hit.start) || (ban !== undefined && segment.isAskedAt(ban))
    const polarity = ban === undefined ? (polarities[at] ?? 'unclear') : 'none'
    return isAsked ? (statementFrom(segment, hit, polarity) ?? []) : []
  })
}

/** "Our filter eats links, so don't send any": where words forbid a topic that the reason before them names. */
function banBehind({ text }: Segment, { start, end }: TopicHit): number | undefined {
  const isCompared = /(?<!\p{L})(?:as|like|into) (?:\p{L}+ )?$/iu.test(text.slice(0, start))
  return isCompared ? undefined : findBanBehind(text, end)
}

/** Tells whether a topic is the whole part before a colon: "Emojis: …". */
function isBareHead({ isHead, text }: Segment, { start, end }: TopicHit): boolean {
  return isHead && /^\W*$/.test(text.slice(0, start)) && /^(?: use)?\W*$/.test(text.slice(end))
}

/** "Emojis: never", "bold: off". */
const isAnswer =
  /^(?:(?:never|prohibited|disallowed|unwanted|no|none|not? (?:allowed|any|at all)|off|false|0|disabled?|forbidden|banned|zero|nein|keine?|nie|aus|verboten|nunca|ninguno|jamais|aucun)(?=,|\W*$| (?:in|here|ever|under|any|anywhere|with)(?!\p{L}))|not (?:in|here|ever|under|any|anywhere|with|for|from|on)(?!\p{L})|(?:always|yes|on|true|enabled|required|immer|ja|siempre|toujours)\W*$)/iu

function readHead(segment: Segment): Statement[] {
  const polarity = /^(?:always|yes|on|true|enabled|required|immer|ja|siempre|toujours)\b/i.test(
    segment.text,
  )
    ? 'some'
    : 'none'
  const head = { ...segment, text: segment.head }
  return findTopics(segment.head).flatMap((hit) => {
    const statement = segment.isAskedAt(0) ? statementFrom(head, hit, polarity) : undefined
    return statement === undefined ? [] : [statement]
  })
}

function statementFrom(segment: Segment, hit: TopicHit, polarity: Polarity): Statement | undefined {
  const { holds, sentence, text } = segment
  const { slot } = hit.topic
  const statement = { kind: 'format' as const, holds, quote: sentence }
  const left = text.slice(0, hit.start)
  const right = text.slice(hit.end)
  if (isOfAPart(hit.topic, polarity, { left, right }) || isAlone(segment, hit, polarity))
    return undefined
  if (polarity === 'none' && (ofThing.test(right) || !isBareTopic(hit, left, right)))
    return undefined
  if (slot === 'letter') {
    const value = letterOf(segment, hit)
    const isFree = polarity === 'some' || value.length !== 1 || isPraise(left, polarity)
    return isFree ? undefined : { ...statement, slot: `letter:${value}`, value: 'none' }
  }
  if ((slot === 'question' || slot === 'sign:?') && polarity === 'some')
    return endingFrom(statement, left, right)
  const meant = polarity === 'unclear' ? presumed(segment, hit) : polarity
  const value = meant === 'unclear' ? undefined : formValueOf(segment, hit, meant)
  return value === undefined ? undefined : { ...statement, slot, value }
}

/** "Get rid of the bullet points in this document". */
const ofThing =
  /^ (?:in|from|on|of) (?:(?:an?|this|the|my|our|that|these|your) )?(?:\p{L}+ )?(?:documents?|files?|drafts?|slides?|reports?|books?|letters?|essays?|cvs?|contracts?|menus?|sheets?|spreadsheets?|photos?|websites?|meetings?|thesis|newsletters?|posters?|ads?|cards?|headlines?|speech|filings)(?!\p{L})/iu

function isAlone(
  { head, text }: Segment,
  { topic, start, end }: TopicHit,
  polarity: Polarity,
): boolean {
  const around = `${head}${text.slice(0, start)}${text.slice(end)}`
  return (
    polarity === 'some' && !/\p{L}/u.test(around) && thingSlots.has(`${topic.slot} ${topic.some}`)
  )
}

/** Topics that say nothing when they are alone, as in a list of what an app can show. */
const thingSlots = new Set([
  'emoji some',
  'table table',
  'links some',
  'code some',
  'heading some',
  'bold some',
  'italics some',
])

/** Returns the meaning of a rule that names a topic and neither asks for it nor forbids it. */
function presumed({ role, text, holds }: Segment, { topic }: TopicHit): Polarity {
  if (topic.isRequest) return 'some'
  const isSeldomAsked = holds === 'always' && role === 'system' && seldomAsked.has(topic.slot)
  return isSeldomAsked && complains.test(text) ? 'none' : 'unclear'
}

/** Forms that a rule which names them nearly always forbids. */
const seldomAsked = new Set([
  'emoji',
  'bold',
  'italics',
  'quotes',
  'sign:!',
  'sign:,',
  'sign:;',
  'sign:()',
  'sign:—–',
])
/** Complaints about a form: "exclamation marks make us sound like a toy shop". */
const complains =
  /(?<!\p{L})(?:makes? (?:us|me|it|them|you|our|the)|looks? (?:like|silly|bad|odd|cheap|childish)|sounds? (?:like|silly|cheap|childish)|belongs? (?:in|to|on)|(?:is|are) for (?!the|each|every|all)|gives? (?:me|us) the|drives? (?:me|us)|annoy\p{L}*|irritat\p{L}*|hurts?|kills?|(?:is|are)(?:n't| not) (?:our|my)|sold a|complain\p{L}*|enough|one more|shows? up as|turns? into|come out as|(?:is|are) read (?:out|aloud) as|can't (?:print|show|display|render|read))(?!\p{L})/iu

function letterOf({ phrases }: Segment, { said }: TopicHit): string {
  const mark = /⟦(\d+)⟧/.exec(said)?.[1]
  return (mark === undefined ? said.slice(-1) : (phrases[Number(mark)] ?? '')).toLowerCase()
}

/** Returns the value of a form, or undefined if it is not about the form of answers. */
function formValueOf(
  segment: Segment,
  hit: TopicHit,
  polarity: 'some' | 'none',
): string | undefined {
  const { topic, said, start } = hit
  const { text, phrases, holds, isAssumed } = segment
  const value = topic[polarity]
  const left = text.slice(0, start)
  if (
    value === undefined ||
    !isForm({ value, said, holds, isAssumed }, left, text.slice(hit.end))
  ) {
    return undefined
  }
  const isConverted =
    topic.slot === 'shape' && (converts.test(left) || ofTools.test(text.slice(hit.end)))
  if (
    isConverted ||
    (value === 'yes_no' &&
      (!isYesNo(said, phrases) ||
        /(?:start|begin|open|end|finish)/i.test(left) ||
        /^ (?:to|for|in|on|when|if) (?!me\b|all\b|any|every)/i.test(text.slice(hit.end))))
  )
    return undefined
  return refine(topic.slot, value, text)
}

/** Returns a stricter value if the text says so, and undefined for what is not checked. */
function refine(slot: string, value: string, text: string): string | undefined {
  if (value === 'json') return strict.test(text) ? 'json_only' : value
  if (slot === 'numbers') return inAnyForm.test(text) ? 'in_any_form' : value
  if (value !== 'some' || slot === 'emoji') return value
  return slot === 'code' && onlyCode.test(text) ? 'only' : undefined
}

const inAnyForm =
  /in any form|spelled[ -]out|(?:or|and|nor) (?:number )?words|(?:no|or|and|nor|neither) number words|in (?:figures|digits) (?:or|and|nor)|neither/i

/** A format of files is the task, not the form of the answer. */
const converts =
  /(?<![\p{L}])(?:finish|call|calls|tools?|functions?|arguments?|accept|convert|turn|export|transform|parse|import|save|read|load|open|edit|fix|validate|write (?:a|the|it|this) \p{L}+)\b[^,;]{0,40}$/iu

const ofTools = /^ (?:tools?|calls?|files?|inputs?|arguments?|payloads?|schemas?|body|api)\b/i

function isYesNo(said: string, phrases: readonly string[]): boolean {
  const words = phrasesIn(said, phrases).map((word) => word.toLowerCase().replace(/\W+$/, ''))
  return (
    words.length === 0 || words.every((word) => /^(?:yes|no|ja|nein|sí|si|oui|non)$/.test(word))
  )
}

const onlyCode =
  /(?<![\p{L}])(?:only|no (?:\p{L}+ )?(?:prose|explanations?|commentary|comments?|text|words|talk)|nothing (?:else|but|except)|without (?:any )?(?:prose|explanations?|commentary|text))(?![\p{L}])/iu

/** Tells whether a topic is a form of answers: "each bullet" is a part, "a table" can be a thing. */
function isForm(
  {
    value,
    said,
    holds,
    isAssumed,
  }: { value: string; said: string; holds: 'always' | 'turn'; isAssumed: boolean },
  left: string,
  right: string,
): boolean {
  if (value === 'table')
    return (holds === 'always' && !isAssumed) || asTable.test(left) || /^ only/i.test(right)
  return (
    value !== 'bullets' ||
    !/^bullet(?: points?| items?)?s?$/i.test(said) ||
    !/(?:each|every|per|the|first|last|any|of)\s*$/i.test(left)
  )
}

const asTable =
  /(?<![\p{L}])(?:as|in|into|using|use|format\p{L}*|only|present\p{L}*|put|answers?|replies|en|als|in form|sous forme|用|以|で)(?: \p{L}+){0,4}\s*$/iu
const strict = /\b(?:only|exclusively|nothing (?:else|but)|no other|raw|solely)\b/i

/** A letter must be forbidden; a sentence that only speaks of it forbids nothing. */
function isPraise(left: string, polarity: Polarity): boolean {
  return (
    polarity !== 'none' && !/doesn't know|does not know|never heard of|broken|missing/i.test(left)
  )
}

function endingFrom(
  statement: { kind: 'format'; holds: 'always' | 'turn'; quote: string },
  left: string,
  right: string,
): Statement | undefined {
  if (endsLeft.test(left) || endsRight.test(right)) {
    return { ...statement, slot: 'ending', value: 'question' }
  }
  return statement.holds === 'always' &&
    /\b(?:ask|include|contain|add|pose|with)\b[^.;]{0,40}$/i.test(left) &&
    !/\b(?:answer|for|to|on|about)\b[^,]{0,20}$/i.test(left)
    ? { ...statement, slot: 'question', value: 'asked' }
    : undefined
}

const endsLeft =
  /(?<!\p{L})(?:ends?|closes?|closing|finish(?:es)?|concludes?|terminates?|wraps? up|signs? off|ending|(?:last|final|closing|concluding) (?:sentence|line|words?|thing)|endet|ende|beende[nt]?|schließ(?:e|t|en)|termin\p{L}*|acab\p{L}*|s'achev\p{L}*|achev\p{L}*|finis\p{L}*|conclu\p{L}*|cierr\p{L}*)(?!\p{L})[^.;]{0,60}$|(?:最后|最後|末尾|结尾)[^。;]{0,12}$/iu
const endsRight =
  /^[^.;]{0,8}(?:で(?:終|締|結|おわ)|结尾|结束|收尾|作结)|^ (?:zu )?(?:enden|endet|schließen|abschließen|beenden)|^ at the (?:very )?end/iu

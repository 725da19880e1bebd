import type { Statement } from '../../../contract.ts'
import { joinsList, type Polarity, polarityOf } from '../sentence/polarity.ts'
import { phrasesIn } from '../sentence/quotes.ts'
import type { Segment } from '../sentence/segments.ts'
import { isBareTopic } from '../vocabulary/bare-topics.ts'
import { isOfAPart } from '../vocabulary/part-topics.ts'
import { signs, type Topic, topics } from '../vocabulary/topics.ts'

/** A topic in a segment, with its position. */
export type TopicHit = { topic: Topic; start: number; end: number; said: string }

const signTopics = signs.map(
  ([marks, words]): Topic => ({ slot: `sign:${marks}`, some: 'some', none: 'none', words }),
)
const letter =
  "(?:the )?(?:letters?|vowel|consonant|buchstaben?|letra|lettre|字母)(?: of the alphabet)? ?(?:⟦\\d+⟧|[\"'(]?\\p{L}(?![\\p{L}\\p{N}']))"
const all: readonly (Topic & { pattern: RegExp })[] = [
  ...topics,
  ...signTopics,
  { slot: 'letter', none: 'none', words: letter },
].map((topic) => ({ ...topic, pattern: patternOf(topic.words) }))

function patternOf(words: string): RegExp {
  return new RegExp(
    `(?<![\\p{Script=Latin}\\p{N}_-])(?:${words})(?![\\p{Script=Latin}\\p{N}_])`,
    'iuy',
  )
}

const anyTopic = new RegExp(all.map(({ pattern }) => pattern.source).join('|'), 'giu')

/** Finds the topics of a text from left to right; at each place, the longest. */
export function findTopics(text: string): TopicHit[] {
  const found: TopicHit[] = []
  anyTopic.lastIndex = 0
  for (let hit = anyTopic.exec(text); hit !== null; hit = anyTopic.exec(text)) {
    const longest = topicsAt(text, hit.index)
    found.push(...longest)
    anyTopic.lastIndex = Math.max(hit.index + 1, longest[0]?.end ?? 0)
  }
  return found
}

function topicsAt(text: string, start: number): TopicHit[] {
  let longest: TopicHit[] = []
  for (const topic of all) {
    topic.pattern.lastIndex = start
    const said = topic.pattern.exec(text)?.[0]
    if (said === undefined) continue
    const hit = { topic, start, end: start + said.length, said }
    const end = longest[0]?.end ?? 0
    if (hit.end > end) longest = [hit]
    else if (hit.end === end) longest.push(hit)
  }
  return longest
}

/** Reads the form that answers must have: JSON, no emoji, no commas, one letter case. */
export function readForms(segment: Segment): Statement[] {
  const { text } = segment
  if (isAnswer.test(text)) return readHead(segment)
  const hits = [...findTopics(text), ...findMarks(segment)].sort((a, b) => a.start - b.start)
  const polarities = polaritiesOf(segment, hits)
  return hits.flatMap((hit, at) => {
    if (isBareHead(segment, hit) || !segment.isAskedAt(hit.start)) return []
    return statementFrom(segment, hit, polarities[at] ?? 'unclear') ?? []
  })
}

/** Tells whether a topic is the whole part before a colon: "Emojis: …". */
function isBareHead({ isHead, text }: Segment, { start, end }: TopicHit): boolean {
  return isHead && /^\W*$/.test(text.slice(0, start)) && /^(?: use)?\W*$/.test(text.slice(end))
}

/** Returns the polarity of each topic; the topics of a list share that of the first. */
function polaritiesOf(segment: Segment, hits: readonly TopicHit[]): Polarity[] {
  const { text } = segment
  let before = { end: 0, polarity: 'unclear' as Polarity, slot: '' }
  return hits.map((hit, at) => {
    const next = hits.slice(at + 1).find(({ start }) => start >= hit.end)
    const left = `${headOf(segment)}${clauseOf(text.slice(0, hit.start))}`
    const own = polarityOf(left, text.slice(hit.end, next?.start))
    const isShared = isListed(before, hit, text.slice(before.end, hit.start))
    const polarity =
      isShared && (own === 'unclear' || before.polarity === 'none') ? before.polarity : own
    if (before.end !== hit.end) before = { end: hit.end, polarity, slot: hit.topic.slot }
    return polarity
  })
}

function isListed(before: { end: number; slot: string }, hit: TopicHit, gap: string): boolean {
  if (before.end === 0) return false
  const isNext = joinsList(gap) && !/^\s*$/.test(gap)
  return isNext || (before.slot === hit.topic.slot && isOfOneClause(gap))
}

/** "Emojis: never", "bold: off". */
const isAnswer =
  /^(?:never|no|none|not? (?:allowed|any|at all)|off|forbidden|banned|zero|nein|keine?|nie|aus|verboten|nunca|jamais|aucun|always|yes|on|required|immer|ja)\W*$/i

function readHead(segment: Segment): Statement[] {
  const polarity = /^(?:always|yes|on|required|immer|ja)\b/i.test(segment.text) ? 'some' : 'none'
  const head = { ...segment, text: segment.head }
  return findTopics(segment.head).flatMap((hit) => {
    const statement = segment.isAskedAt(0) ? statementFrom(head, hit, polarity) : undefined
    return statement === undefined ? [] : [statement]
  })
}

/** Tells whether a text does not begin another clause: "no lists of any kind with bullets". */
function isOfOneClause(gap: string): boolean {
  return !/[,;.]|\b(?:but|use|instead|and|or|rather|only)\b/i.test(gap)
}

/** Returns the part before a colon if it forbids: "do not". */
function headOf({ head }: Segment): string {
  return /(?:not|never|don'?ts?|avoid|forbidden|banned|no)\W*$/i.test(head) ? 'never ' : ''
}

/** Returns the last part of a text that a comma does not cut off from what follows. */
function clauseOf(left: string): string {
  const at = left.lastIndexOf(',')
  const rest = left.slice(at + 1)
  return at === -1 || rest.trim() === '' ? left : rest
}

function statementFrom(segment: Segment, hit: TopicHit, polarity: Polarity): Statement | undefined {
  const { holds, sentence, text } = segment
  const { slot } = hit.topic
  const statement = { kind: 'format' as const, holds, quote: sentence }
  const left = text.slice(0, hit.start)
  const right = text.slice(hit.end)
  if (isOfAPart(hit.topic, polarity, { left, right })) return undefined
  if (polarity === 'none' && !isBareTopic(hit, left, right)) return undefined
  if (slot === 'letter') {
    const value = letterOf(segment, hit)
    const isFree = polarity === 'some' || value.length !== 1 || isPraise(left, polarity)
    return isFree ? undefined : { ...statement, slot: `letter:${value}`, value: 'none' }
  }
  if ((slot === 'question' || slot === 'sign:?') && polarity === 'some')
    return endingFrom(statement, left)
  const meant = polarity === 'unclear' && hit.topic.some === 'only' ? 'some' : polarity
  const value = meant === 'unclear' ? undefined : formValueOf(segment, hit, meant)
  return value === undefined ? undefined : { ...statement, slot, value }
}

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
  const { text, phrases, holds } = segment
  const value = topic[polarity]
  const left = text.slice(0, start)
  if (value === undefined || !isForm({ value, said, holds }, left, text.slice(hit.end))) {
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

const inAnyForm = /in any form|spelled[ -]out|(?:or|and|nor) (?:number )?words|neither/i

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
  { value, said, holds }: { value: string; said: string; holds: 'always' | 'turn' },
  left: string,
  right: string,
): boolean {
  if (value === 'table') return holds === 'always' || asTable.test(left) || /^ only/i.test(right)
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
): Statement | undefined {
  if (
    /\b(?:end|close|finish|conclude|wrap up|sign off|ends|closes|ending|last sentence|last line|beende|schließe|termina|acaba|termine|finis)\b[^.;]{0,60}$/i.test(
      left,
    )
  ) {
    return { ...statement, slot: 'ending', value: 'question' }
  }
  return statement.holds === 'always' &&
    /\b(?:ask|include|contain|add|pose|with)\b[^.;]{0,40}$/i.test(left) &&
    !/\b(?:answer|for|to|on|about)\b[^,]{0,20}$/i.test(left)
    ? { ...statement, slot: 'question', value: 'asked' }
    : undefined
}

/** Finds quoted marks: no "?", no "—" or ";". */
function findMarks({ text, phrases }: Segment): TopicHit[] {
  return [...text.matchAll(/⟦(\d+)⟧/g)].flatMap(({ 0: said, 1: at, index }) => {
    const phrase = phrases[Number(at)] ?? ''
    if (!/^[^\p{L}\p{N}\s⟦]{1,3}$/u.test(phrase)) return []
    return {
      topic: { slot: `sign:${phrase}`, none: 'none', words: '' },
      start: index,
      end: index + said.length,
      said,
    }
  })
}

import type { Range } from '../../text/index.ts'
import type { Evidence, Value } from '../../values/index.ts'
import type { Seen } from '../seen/seen.ts'
import type { Mention } from '../seen/subjects.ts'
import type { Context } from './operands.ts'

/** A value of another subject than the answer says, and the value of the named one. */
export type OtherSubject = { evidence: Evidence; instead: Evidence; subject: string }

/** Smaller numbers occur anywhere. */
const number_min = 6

/**
 * Tells whether a value that was seen belongs to another subject: the name beside it in the answer
 * is that of a record which has another value in the same column, and no text and
 * no record of that name has the value.
 */
export function findOtherSubject(
  value: Value,
  { text, index: { subjects } }: Context,
): OtherSubject | undefined {
  if (!isTelling(value)) return undefined
  const places = subjects.placesOf(value)
  if (places.length === 0 || places.some(({ record }) => record === undefined)) return undefined
  const part = withSubject(text, partOf(text, value.at))
  const mentions = subjects.mentionsIn(text, part).filter((one) => !overlaps(one.at, value.at))
  const [named] = mentions
  if (named === undefined || !isOneSubject(mentions) || isPartOfName(text, value)) return undefined
  if (places.some((place) => subjects.isOf(place, named))) return undefined
  const said = text.slice(...part)
  if (contrast.test(said)) return undefined
  for (const place of places) {
    const own = subjects.inColumn(place, named)
    if (own === undefined || own.value.normal === value.normal) continue
    // A sentence that also has the value of its subject speaks of both.
    if (said.includes(own.value.text) || isName(own, named)) return undefined
    return { evidence: place.evidence, instead: own.evidence, subject: text.slice(...named.at) }
  }
  return undefined
}

/** Words that set a subject against another one, or go on to the next of a series. */
const contrast =
  /(?<!\p{L})(?:than|unlike|instead|rather|compared|versus|vs|whereas|while|but|not|other|another|next|follow\p{L}*|previous|after|before|als|statt|anders|sondern|während|nächste\p{L}*|nach|vor|que|au lieu|contrairement|mais|suivant\p{L}*|après|avant|en vez|sino|pero|siguiente|después|antes)(?!\p{L})|比|不是|下一|より|ではなく|次の/iu

/** The number of `AB 412` and of `Avenue Brugmann 402` is a part of a name. */
function isPartOfName(text: string, { at: [start], kind }: Value): boolean {
  return (
    kind === 'number' && /\p{Lu}[\p{L}.]{0,20} $/u.test(text.slice(Math.max(0, start - 24), start))
  )
}

/** Names of one record are one subject; with others in the sentence it is open whose a value is. */
function isOneSubject(mentions: readonly Mention[]): boolean {
  const [first] = mentions
  return mentions.every(({ records }) => [...records].some((one) => first?.records.has(one)))
}

function isTelling({ amount, kind, isAbout, bound }: Value): boolean {
  if (isAbout === true || bound !== undefined || kind === 'quote' || kind === 'path') return false
  return amount === undefined || Math.abs(amount.written[0] ?? 0) >= number_min
}

/** The line or sentence of a value. */
function partOf(text: string, [start, end]: Range): Range {
  const before = text.slice(Math.max(0, start - part_chars), start)
  const from = start - before.length + before.search(/[^.!?;\n]*(?:[.!?;](?=\S)[^.!?;\n]*)*$/)
  const behind = /^(?:[^.!?;\n]|[.!?;](?=\S))*/.exec(text.slice(end, end + part_chars))?.[0] ?? ''
  return [from, end + behind.length]
}

const part_chars = 240

/** Adds the sentence before to one whose subject is only a pronoun: “It costs …”. */
function withSubject(text: string, [start, end]: Range): Range {
  const isNext = start > 1 && /[.!;]/.test(text[start - 1] ?? '')
  if (!isNext || !pronoun.test(text.slice(start, end))) return [start, end]
  return [partOf(text, [start - 1, start - 1])[0], end]
}

const pronoun =
  /^\s{1,2}(?:it|it['’]s|its|this one|that one|he|she|er|es|elle|ello|ele|ela)(?!\p{L})/iu

function isName({ value }: Seen, { label }: Mention): boolean {
  return value.text.toLowerCase() === label
}

function overlaps(one: Range, other: Range): boolean {
  return one[0] < other[1] && other[0] < one[1]
}

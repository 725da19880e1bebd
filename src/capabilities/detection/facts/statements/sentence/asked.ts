import {
  isAboutWork,
  isDemand,
  isDirective,
  isHedged,
  isNarrated,
  isQuestion,
  isReported,
  removeGreetings,
} from './mood.ts'
import { withoutEvent } from './scope.ts'
import { isOfOtherTexts } from './sections.ts'
import { type Products, subjectAt, subjectOf } from './subject.ts'

/** A segment, and what is known before its words are read. */
type Asked = {
  /** True if the sentence or its header asks for something. */
  isAsked: boolean
  condition: string | undefined
  /** The part before its colon. */
  text: string
  role: 'system' | 'user'
  isAlways: boolean
  products: Products
}

/**
 * Returns a function that tells whether a rule at a position of a segment is asked of the
 * assistant, and not reported, asked about, wished, or asked of others.
 */
export function askedIn(text: string, asked: Asked): (start: number) => boolean {
  const { role, products, text: head } = asked
  const isOfHead = head !== '' && !ofAnswers.test(text) && isHeadOfOthers(head, products)
  if (isOfHead || isAboutWork(withoutEvent(text)) || isOfOthers(head, asked)) return () => false
  if (role === 'system') {
    return (start) => !isHedged(partAt(text, start)) && subjectAt(text, start, products) !== 'other'
  }
  if (tagged.test(text)) return () => false
  const isMain = !isQuestion(text)
  const isOpen = !/[?？]\W*$/.test(text)
  const asksMain = isMain && asksAtAll(text, asked)
  const demands = isMain && isOpen && isDemand(text)
  return (start) => {
    const left = text.slice(0, start)
    const subject = subjectAt(text, start, products)
    if (subject === 'other' || isTold(text, start)) return false
    const isOwn = subject === 'own' && (demands || (isMain && isOpen && !isPast(left)))
    if (isOwn || asksMain || (isMain && subject === 'request')) return true
    return (asked.isAlways && isMain) || isAskedPart(text, start)
  }
}

const ofAnswers = /(?<!\p{L})(?:every|each|all|your|any) (?:answers?|repl|respon|messages?)/iu
/** "Three lines, no rhyme, right?", "Seven words, is that normal?" */
const tagged =
  /^(?!.*(?<!\p{L})(?:please|pls|max|at most|bitte|por favor)(?!\p{L})).*, (?:is|are|was|were|does|do|did) (?:that|this|it|these|those|they)(?!\p{L})[^,]*[?？]\W*$|[,–—-] ?(?:right|correct|true|yes|no|or not|isn't it|aren't they|doesn't it|is that (?:right|so|true)|am i right|i (?:suppose|guess|think|hope|take it)|oder|nicht wahr|verdad|no es así|n'est-ce pas|non)\s?[?？]\W*$/iu

/** Tells whether a header names another text: "Slides:", "for the press release:". */
function isHeadOfOthers(head: string, products: Products): boolean {
  if (isAboutWork(head) || isOfOtherTexts(head)) return true
  const place = /^for (?:the|our|an?|each|every) (?:\p{L}+ ){0,2}(\p{L}+)$/iu.exec(head.trim())?.[1]
  return place !== undefined && subjectOf(place, products) === 'other'
}

/** Tells whether the text at a position belongs to a report or a story. */
function isTold(text: string, start: number): boolean {
  const left = text.slice(0, start)
  if (isReported(clauseBefore(text, start))) return true
  if (happened.test(text.slice(start)) || attributed.test(text.slice(start))) return true
  if (habit.test(left) && !requestBehind.test(left)) return true
  return (isNarrated(left) || wanted.test(left)) && !requestBehind.test(left)
}

/** Tells whether the part of a sentence around a position asks for something. */
function isAskedPart(text: string, start: number): boolean {
  if (isQuestion(text) && !/,|(?<!\p{L})(?:so|but|because)(?!\p{L})/iu.test(text))
    return asksForLength.test(text.slice(text.slice(0, start).search(/\S+\s*$/)))
  const part = removeGreetings(text.slice(partStart(text, start)))
  return !isQuestion(part) && isDirective(part)
}

/** "I said it and here it is again: …", "she wants a new sign-off: …". */
const ownRule = /(?<!\p{L})(?:i|we|new|sign-?off|signature|ending|opening|rules?|limit)(?!\p{L})/iu

/** Tells whether a header reports the words of others: "The pupils had to obey: …". */
function isOfOthers(head: string, { role }: Asked): boolean {
  if (head === '' || role === 'system') return false
  if (ownRule.test(head)) return false
  return isReported(head)
}

/** Returns where the part of a sentence around a position begins. */
function partStart(text: string, start: number): number {
  const marks = [
    ...text
      .slice(0, start)
      .matchAll(
        /,|(?<!\p{L})(?:so|and|but|because|cause|cuz|then|hence|therefore)(?!\p{L})|[(&]/giu,
      ),
  ]
  const last = marks.at(-1)
  return last === undefined ? 0 : last.index + last[0].length
}

/** "Reddit wants titles under …, no emojis": what another asks for. */
const wanted =
  /^[^,;:]*(?<!\p{L})(?!(?:that|this|which|it|what|who|everyone|everything|rule) )\p{L}+ (?:wants|requires|demands|expects|accepts|allows|forbids|bans|rejects|prescribes|stipulates|verlangt|fordert|erlaubt|verbietet|verlangen|exige|interdit|autorise|demande|pide|prohíbe|permite|exigen)(?!\p{L})|^[^,,;。]{0,12}(?:单位|公司|老师|学校|领导|客户|老板|编辑|平台|导师|甲方)(?:规定|要求)(?!你)|^[^、。]{0,12}(?:会社|上司|先生|学校|部長|客先|編集部)(?:が|は|の)[^、。]{0,30}(?:求め|要求|決まり)/iu
/** "No French please, said the waiter", "say it in one sentence, that was dad's motto". */
const attributed =
  /[,–—-] ?(?:so )?(?:said|says|wrote|writes|told|insists?|goes) (?!you|it\b|that|i\b)\p{L}|, (?:\p{L}+ ){1,3}(?:says|said|wrote|writes|insists|advise[sd]|i'd say)\W*$|(?<!\p{L})that(?:'s| is| was) (?:what )?(?:[\p{L}'’]+ ){0,3}(?:motto|advice|says|said|tells|told)(?!\p{L})/iu
/** "No questions were asked." */
const happened =
  /^\p{L}+(?: \p{L}+)? (?:was|were|had been|have been|has been|got) (?:\p{L}+ly )?\p{L}+(?:ed|en|ne|wn|t)(?!\p{L})/iu
/** "We never use bold in our books": a custom, if nothing asks for it. */
const habit =
  /(?:^|[,;:(] ?|(?<!\p{L})(?:and|but|because|since) )(?:we|i|people|most of us) (?:(?:always|never|usually|often|mostly|hardly|rarely|only) \p{L}+|(?:don't|do not) (?:use|write|put|do|add|have|print|read))(?: [\p{L}'-]+){0,3} $|(?<!\p{L})i (?:see|hear|know|write|type|count|speak)(?: [\p{L}'-]+){0,2} $/iu
/** A request behind a story: "…, so please". */
const requestBehind =
  /(?<!\p{L})(?:please|pls|so|from now on|always|bitte|por favor|desde ahora|désormais|stp|svp)(?!\p{L})/iu

/** Tells whether a text speaks of what was: "you wrote three sentences". */
function isPast(text: string): boolean {
  return /(?<!\p{L})(?:wrote|gave|used|did|was|were|had|sent|started|ended|answered|kept|broke|forgot|made|put|too (?:many|much|long|short))(?!\p{L})/iu.test(
    text,
  )
}

function asksAtAll(text: string, { isAsked, condition }: Asked): boolean {
  const isRule = condition !== undefined && /\b(?:gets?|must|should|always|needs?)\b/i.test(text)
  return isAsked || isRule || isDirective(text)
}

/** "What is a tariff in two sentences?" */
const asksForLength =
  /^(?:in|en|mit|auf|with)\s(?:just |only |at most |max |under |exactly |no more than )?(?:\d|one|two|three|four|five|six|ten|twenty|fifty|a single|an? (?:word|sentence)|zwei|drei|einem|dos|tres|una|deux|trois|une)(?![\p{L}])[^,]{0,30}\?$/iu

function clauseBefore(text: string, start: number): string {
  const clauses = text
    .slice(0, start)
    .split(/,(?! (?:dass|daß|that|que?\b|qu'))| so | because | since /)
  return clauses.at(-1) ?? ''
}

/** Returns the part of a text around a position, between commas. */
function partAt(text: string, start: number): string {
  const end = text.indexOf(',', start)
  return text.slice(text.lastIndexOf(',', start - 1) + 1, end === -1 ? undefined : end)
}

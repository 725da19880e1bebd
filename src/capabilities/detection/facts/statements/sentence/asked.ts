import {
  isAboutWork,
  isDemand,
  isDirective,
  isHedged,
  isQuestion,
  isReported,
  removeGreetings,
} from './mood.ts'
import { withoutEvent } from './scope.ts'
import { type Products, subjectAt } from './subject.ts'

/** A segment, and what is known before its words are read. */
type Asked = {
  /** True if the sentence or its header asks for something. */
  isAsked: boolean
  condition: string | undefined
  role: 'system' | 'user'
  isAlways: boolean
  products: Products
}

/**
 * Returns a function that tells whether a rule at a position of a segment is asked of the
 * assistant, and not reported, asked about, wished, or asked of others.
 */
export function askedIn(text: string, asked: Asked): (start: number) => boolean {
  if (isAboutWork(withoutEvent(text))) return () => false
  const { role, products } = asked
  if (role === 'system') {
    return (start) => !isHedged(partAt(text, start)) && subjectAt(text, start, products) !== 'other'
  }
  const isMain = !isQuestion(text)
  const asksMain = isMain && asksAtAll(text, asked)
  const demands = isMain && isDemand(text) && !/\?\W*$/.test(text)
  return (start) => {
    const subject = subjectAt(text, start, products)
    if (subject === 'other' || isReported(clauseBefore(text, start))) return false
    if (asksMain || (isMain && subject === 'request') || (demands && subject === 'own')) return true
    const part = removeGreetings(text.slice(text.lastIndexOf(',', start - 1) + 1))
    return isQuestion(text) && !text.includes(',')
      ? asksForLength.test(text.slice(text.slice(0, start).search(/\S+\s*$/)))
      : (asked.isAlways && isMain) || (!isQuestion(part) && isDirective(part))
  }
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

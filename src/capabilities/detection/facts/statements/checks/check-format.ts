import { wordsOf } from '../../../../provenance/text/index.ts'
import type { Statement } from '../../../contract.ts'
import { type AnswerText, withoutFence } from './answer-text.ts'
import { type Breach, toBreach } from './breach.ts'
import { checkLetters } from './check-letters.ts'

/** Checks the form of an answer. A very short answer satisfies most rules. */
export function checkFormat({ slot, value }: Statement, answer: AnswerText): Breach | undefined {
  const key = `${slot} ${value}`
  if (!Object.hasOwn(checks, key)) return checkLetters({ slot, value }, answer)
  return checks[key]?.(answer)
}

const short_words_max = 8

const checks: Record<string, (answer: AnswerText) => Breach | undefined> = {
  'shape json': ({ is_json, has_json }) =>
    is_json || has_json ? undefined : toBreach('The answer is not JSON.', 0.95),
  'shape json_only': ({ is_json, has_json }) => {
    if (is_json) return undefined
    return has_json
      ? toBreach('The answer has text besides its JSON.', 0.75)
      : toBreach('The answer is not JSON.', 0.95)
  },
  'shape csv': ({ text }) =>
    isCsv(withoutFence(text)) ? undefined : toBreach('The answer is not CSV.', 0.9),
  'shape plain': ({ text, bullets }) => {
    const mark = markdown.find(({ pattern }) => pattern.test(text))?.name
    if (mark !== undefined) return toBreach(`The answer has ${mark} in Markdown.`, 0.9)
    return bullets >= 2 && /^\s*[-*•] \S/m.test(text)
      ? toBreach('The answer has a Markdown list.', 0.8)
      : undefined
  },
  'shape yes_no': ({ text }) =>
    /^\W{0,3}(?:yes|no|ja|nein|sí|si|oui|non)\W{0,3}$/i.test(text.trim())
      ? undefined
      : toBreach('The answer is more than "yes" or "no".', 0.85),
  'bullets bullets': ({ bullets, words }) =>
    bullets > 0 || words.high <= short_words_max
      ? undefined
      : toBreach('The answer has no list.', 0.85),
  'bullets numbered': ({ numbered, bullets, words }) =>
    numbered > 0 || (bullets === 0 && words.high <= short_words_max)
      ? undefined
      : toBreach('The answer has no numbered list.', 0.85),
  'bullets not_numbered': ({ numbered }) =>
    numbered >= 2
      ? toBreach(`The answer has a numbered list of ${numbered} points.`, 0.9)
      : undefined,
  'bullets none': ({ bullets }) =>
    bullets >= 2 ? toBreach(`The answer has a list of ${bullets} points.`, 0.9) : undefined,
  'table table': ({ text, words }) =>
    words.high <= short_words_max || isTable(text)
      ? undefined
      : toBreach('The answer has no table.', 0.85),
  'table none': ({ text }) =>
    isTable(text) ? toBreach('The answer has a table.', 0.92) : undefined,
  'heading none': ({ text }) =>
    /^#{1,6} \S/m.test(text) ? toBreach('The answer has a heading.', 0.92) : undefined,
  'bold none': ({ text }) =>
    /\*\*[^*\n]{1,200}\*\*|__[^_\n]{1,200}__|<(?:b|strong)>/.test(text)
      ? toBreach('The answer has bold text.', 0.92)
      : undefined,
  'italics none': ({ text }) =>
    italics.test(text) ? toBreach('The answer has italics.', 0.85) : undefined,
  'links none': ({ text }) => {
    const link = /https?:\/\/\S+|www\.\S+|\]\([^)\s]+\)/i.exec(text)?.[0]
    return link === undefined
      ? undefined
      : toBreach(`The answer has the link ${link.slice(0, 80)}.`, 0.92)
  },
  'code none': ({ text }) =>
    /```|`[^`\n]+`/.test(text) ? toBreach('The answer has code.', 0.9) : undefined,
  'code only': (answer) =>
    isOnlyCode(answer) ? undefined : toBreach('The answer is not only code.', 0.85),
  'dates iso': ({ voice }) => {
    const found = otherDate.exec(voice)?.[0]
    return found === undefined
      ? undefined
      : toBreach(`The answer writes the date "${found}".`, 0.85)
  },
  'units metric': ({ voice }) => {
    const found = imperial.exec(voice)?.[0]
    return found === undefined ? undefined : toBreach(`The answer gives "${found}".`, 0.8)
  },
}

function isTable(text: string): boolean {
  return /^\s*\|.*\|\s*$/m.test(text) || /<t[rd]\b/i.test(text)
}

/** All lines have a comma or semicolon outside prose, and none is a table or JSON. */
function isCsv(text: string): boolean {
  const lines = text
    .trim()
    .split('\n')
    .filter((line) => line.trim() !== '')
  if (lines.some((line) => /^\s*[|[{#*-]\s*|^```/.test(line))) return false
  const separated = lines.filter((line) => /\S[,;\t]\s?\S|,$|,,/.test(line)).length
  const prose = lines.filter(
    (line) => /[.!?:]$/.test(line.trim()) && wordsOf(line).length > 4,
  ).length
  return prose === 0 && separated >= Math.max(1, lines.length - 1)
}

function isOnlyCode({ text, prose }: AnswerText): boolean {
  if (text.includes('```')) return wordsOf(prose).length <= 3
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const spoken = lines.filter(
    (line) =>
      !/^\s*(?:#|\/\/|--|\/\*|\*|;)/.test(line) &&
      /^[\s>]*\p{Lu}[\p{L}']*(?: [\p{L}'’,`-]+){3,}.*[.!?:]\s*$/u.test(line),
  )
  return spoken.length === 0
}

const italics =
  /(?<![*\w])\*[^*\s][^*\n]{0,100}\*(?![*\w])|(?<![_\w])_[^_\s][^_\n]{0,100}_(?![_\w])/

const markdown: readonly { name: string; pattern: RegExp }[] = [
  { name: 'a heading', pattern: /^#{1,6} \S/m },
  { name: 'bold text', pattern: /\*\*[^*\n]{1,200}\*\*/ },
  { name: 'a code fence', pattern: /^```/m },
  { name: 'a table', pattern: /^\|[^\n]{1,400}\|\s*$/m },
  { name: 'a link', pattern: /\[[^\]\n]{1,100}\]\(https?:[^)\s]+\)/ },
  { name: 'italics', pattern: italics },
  { name: 'a quote', pattern: /^> \S/m },
  { name: 'code', pattern: /`[^`\n]{1,100}`/ },
]

const otherDate =
  /\b(?:\d{1,2}[/.]\d{1,2}[/.]\d{4}|(?:January|February|March|April|May|June|July|August|September|October|November|December) \d{1,2}(?:st|nd|rd|th)?(?:, \d{4})?)\b/
const imperial =
  /\b\d[\d,.]{0,12} ?(?:miles?|feet|foot|inch(?:es)?|pounds?|lbs?|yards?|ounces?|gallons?|°F|degrees Fahrenheit)\b/i

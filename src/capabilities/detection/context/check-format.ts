import type { AnswerText } from './answer-text.ts'
import type { Breach } from './breach.ts'
import type { Statement } from './ledger.ts'

/** Checks the form of an answer. What is too short to have a form keeps every rule. */
export function checkFormat({ slot, value }: Statement, answer: AnswerText): Breach | undefined {
  const check = Object.hasOwn(checks, value) ? checks[value as 'json'] : undefined
  return check?.(answer) ?? checkLetters({ slot, value }, answer)
}

const short_words_max = 8

const checks: Record<string, (answer: AnswerText) => Breach | undefined> = {
  json: ({ is_json, has_json }) =>
    is_json || has_json ? undefined : breach('The answer is not JSON.', 0.95),
  json_only: ({ is_json, has_json }) => {
    if (is_json) return undefined
    return has_json
      ? breach('The answer has text beside its JSON.', 0.75)
      : breach('The answer is not JSON.', 0.95)
  },
  plain: ({ text, bullets }) => {
    const mark = markdown.find(({ pattern }) => pattern.test(text))?.name
    if (mark !== undefined) return breach(`The answer has ${mark} of Markdown.`, 0.9)
    return bullets >= 3 && /^\s*[-*] /m.test(text)
      ? breach('The answer has a list of Markdown.', 0.7)
      : undefined
  },
  bullets: ({ bullets, words }) =>
    bullets > 0 || words <= short_words_max ? undefined : breach('The answer has no list.', 0.85),
  table: ({ text, words }) =>
    words <= short_words_max || /^\s*\|.*\|\s*$/m.test(text) || /<t[rd]\b/i.test(text)
      ? undefined
      : breach('The answer has no table.', 0.85),
  no_bullets: ({ bullets }) =>
    bullets >= 2 ? breach(`The answer has a list of ${bullets} points.`, 0.9) : undefined,
  yes_no: ({ text }) =>
    /^\W{0,3}(?:yes|no)\W{0,3}$/i.test(text.trim())
      ? undefined
      : breach('The answer is more than "yes" or "no".', 0.85),
  iso: ({ voice }) => {
    const found = otherDate.exec(voice)?.[0]
    return found === undefined ? undefined : breach(`The answer writes the date "${found}".`, 0.85)
  },
  metric: ({ voice }) => {
    const found = imperial.exec(voice)?.[0]
    return found === undefined ? undefined : breach(`The answer gives "${found}".`, 0.8)
  },
}

function checkLetters(
  { slot, value }: Pick<Statement, 'slot' | 'value'>,
  { voice, prose }: AnswerText,
): Breach | undefined {
  if (slot === 'emoji') {
    const emoji = /\p{Emoji_Presentation}|\p{Extended_Pictographic}\uFE0F/u.exec(prose)?.[0]
    return emoji === undefined ? undefined : breach(`The answer has the emoji ${emoji}.`, 0.95)
  }
  if (slot === 'exclamation') {
    return /[\p{L}\d]!(?:\s|$|")/u.test(voice)
      ? breach('The answer has an exclamation mark.', 0.9)
      : undefined
  }
  if (slot !== 'case') return undefined
  const upper = voice.match(/\p{Lu}/gu)?.length ?? 0
  const lower = voice.match(/\p{Ll}/gu)?.length ?? 0
  const wrong = value === 'lower' ? upper : lower
  return wrong >= 3 && wrong / Math.max(1, upper + lower) > 0.02
    ? breach(`The answer has ${wrong} letters that are not ${value} case.`, 0.9)
    : undefined
}

const markdown: readonly { name: string; pattern: RegExp }[] = [
  { name: 'a heading', pattern: /^#{1,6} \S/m },
  { name: 'bold text', pattern: /\*\*[^*\n]{1,200}\*\*/ },
  { name: 'a code fence', pattern: /^```/m },
  { name: 'a table', pattern: /^\|[^\n]{1,400}\|\s*$/m },
]

const otherDate =
  /\b(?:\d{1,2}[/.]\d{1,2}[/.]\d{4}|(?:January|February|March|April|May|June|July|August|September|October|November|December) \d{1,2}(?:st|nd|rd|th)?(?:, \d{4})?)\b/
const imperial =
  /\b\d[\d,.]{0,12} ?(?:miles?|feet|foot|inch(?:es)?|pounds?|lbs?|yards?|ounces?|gallons?|°F|degrees Fahrenheit)\b/i

function breach(violation: string, confidence: number): Breach {
  return { violation, confidence }
}

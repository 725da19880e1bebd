import type { AnswerText } from './answer-text.ts'
import { type Breach, toBreach } from './breach.ts'

type Rule = { slot: string; value: string }
type Check = (value: string, answer: AnswerText) => Breach | undefined

/** Checks the signs, letters and cases of an answer. */
export function checkLetters({ slot, value }: Rule, answer: AnswerText): Breach | undefined {
  if (slot.startsWith('sign:'))
    return value === 'none' ? checkSigns(slot.slice(5), answer) : undefined
  if (slot.startsWith('letter:')) return checkLetter(slot.slice(7), answer)
  return Object.hasOwn(checks, slot) ? checks[slot]?.(value, answer) : undefined
}

const checks: Record<string, Check> = {
  emoji: (value, { text, prose }) => {
    const emoji = emojiPattern.exec(prose)?.[0]
    if (value === 'none') {
      return emoji === undefined ? undefined : toBreach(`The answer has the emoji ${emoji}.`, 0.95)
    }
    return value === 'some' && emoji === undefined && !emojiPattern.test(text)
      ? toBreach('The answer has no emoji.', 0.92)
      : undefined
  },
  quotes: (_value, { prose }) =>
    /["“”„«»]|[「」『』]|(?<![\p{L}\p{N}])['‘][^'’\n]{1,100}['’](?![\p{L}\p{N}])/u.test(prose)
      ? toBreach('The answer has quotation marks.', 0.9)
      : undefined,
  question: (value, { voice }) => {
    const asks = /[?？](?:\s|$|["'”)*_]|[^\p{L}\p{N}/=&])|[？]/u.test(voice)
    if (value === 'none') return asks ? toBreach('The answer asks a question.', 0.88) : undefined
    return value === 'asked' && !/[?？]/.test(voice)
      ? toBreach('The answer asks no question.', 0.88)
      : undefined
  },
  ending: (_value, { text }) =>
    /[?？](?:[\s"'”’)*_]|\p{Emoji_Presentation}|\uFE0F)*$/u.test(text)
      ? undefined
      : toBreach('The answer does not end with a question.', 0.88),
  digits: (_value, { prose }) => checkDigits(prose),
  numbers: (value, { prose }) =>
    checkDigits(prose) ?? (value === 'in_any_form' ? checkNumberWords(prose) : undefined),
  contractions: (_value, { voice }) => {
    const said =
      /\b\p{L}+(?:n't|'re|'ll|'ve|'m|'d)\b|\b(?:it|that|there|what|he|she|who|let)'s\b/iu.exec(
        voice.replace(/’/g, "'"),
      )?.[0]
    return said === undefined
      ? undefined
      : toBreach(`The answer has the contraction "${said}".`, 0.9)
  },
  case: checkCase,
}

const emojiPattern = /\p{Emoji_Presentation}|\p{Extended_Pictographic}\uFE0F?/u

function checkDigits(prose: string): Breach | undefined {
  const said = /[\p{L}\d.,]*\d[\d.,]*/u.exec(prose.replace(/^\s*\d{1,2}[.)]\s/gm, '1 '))?.[0]
  return said === undefined ? undefined : toBreach(`The answer has the number "${said}".`, 0.9)
}

function checkNumberWords(prose: string): Breach | undefined {
  const said =
    /\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|[mb]illion|dozen)\b/i.exec(
      prose,
    )?.[0]
  return said === undefined ? undefined : toBreach(`The answer has the number "${said}".`, 0.75)
}

/** A sign between digits or inside a word is not a punctuation mark. */
function checkSigns(signs: string, { prose }: AnswerText): Breach | undefined {
  const bare = prose.replace(/https?:\/\/\S+/g, ' ').replace(/\d[.,:/-](?=\d)/g, '0')
  const found = [...signs].find((sign) => isUsed(sign, bare))
  return found === undefined ? undefined : toBreach(`The answer has the sign "${found}".`, 0.9)
}

const wideForms: Record<string, string> = {
  '!': '！',
  '?': '？',
  ',': '，、',
  ';': '；',
  ':': '：',
  '(': '（',
  ')': '）',
}

function isUsed(sign: string, text: string): boolean {
  if (sign === '-') return /\p{L}-\p{L}/u.test(text)
  if (sign === '–') return text.includes(sign)
  if (sign === '—') return /—|\p{L} ?-- ?\p{L}/u.test(text)
  if (sign === '…') return /…|\.{3}/.test(text)
  if (sign === '*') return text.includes('*')
  return [sign, ...(wideForms[sign] ?? '')].some((one) => text.includes(one))
}

function checkLetter(letter: string, { prose }: AnswerText): Breach | undefined {
  const word = (prose.toLowerCase().match(/[\p{L}]+/gu) ?? []).find((one) => one.includes(letter))
  return word === undefined
    ? undefined
    : toBreach(`The answer has the letter "${letter}" in "${word}".`, 0.92)
}

const smallWords = new Set(
  'a an and as at but by for from in into nor of off on or over per so the to up via vs with is it'.split(
    ' ',
  ),
)

function checkCase(value: string, { voice, prose }: AnswerText): Breach | undefined {
  if (value === 'title') {
    const words = prose.match(/\p{L}[\p{L}'’]*/gu) ?? []
    const small = words.filter((word) => /^\p{Ll}/u.test(word) && !smallWords.has(word)).length
    return words.length >= 4 && small > words.length * 0.2
      ? toBreach(`The answer has ${small} words without a capital letter.`, 0.85)
      : undefined
  }
  const text = voice.replace(/https?:\/\/\S+/g, ' ')
  const upper = text.match(/\p{Lu}/gu)?.length ?? 0
  const lower = text.match(/\p{Ll}/gu)?.length ?? 0
  const wrong = value === 'lower' ? upper : lower
  return wrong >= 3 && wrong / Math.max(1, upper + lower) > 0.02
    ? toBreach(`The answer has ${wrong} letters that are not ${value} case.`, 0.9)
    : wrong >= 1 && value === 'lower'
      ? toBreach(`The answer has capital letters.`, 0.75)
      : undefined
}

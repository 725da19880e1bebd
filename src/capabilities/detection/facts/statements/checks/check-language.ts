import type { Statement } from '../../../contract.ts'
import type { AnswerText } from './answer-text.ts'
import { type Breach, toBreach } from './breach.ts'

/** Languages by the script that their texts need. */
const scriptOf: Record<string, RegExp> = {
  zh: /\p{Script=Han}/u,
  ja: /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u,
  ko: /\p{Script=Hangul}/u,
  ru: /\p{Script=Cyrillic}/u,
  ar: /\p{Script=Arabic}/u,
  he: /\p{Script=Hebrew}/u,
  el: /\p{Script=Greek}/u,
  hi: /\p{Script=Devanagari}/u,
  th: /\p{Script=Thai}/u,
}
const letters_min = 12

/** Checks the language of an answer; an unknown language keeps the rule. */
export function checkLanguage(
  { value }: Statement,
  { language, voice }: AnswerText,
): Breach | undefined {
  if (value.startsWith('not ')) {
    return language === value.slice(4)
      ? toBreach(`The answer is in "${language}".`, 0.9)
      : undefined
  }
  if (language !== undefined) {
    return language === value
      ? undefined
      : toBreach(`The answer is in "${language}", not in "${value}".`, 0.9)
  }
  const script = Object.hasOwn(scriptOf, value) ? scriptOf[value] : undefined
  const latin = voice.match(/\p{Script=Latin}/gu)?.length ?? 0
  return script !== undefined && latin >= letters_min && !script.test(voice)
    ? toBreach(`The answer is not in "${value}".`, 0.85)
    : undefined
}

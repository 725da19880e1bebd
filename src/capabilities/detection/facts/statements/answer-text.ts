import type { Message } from '../../reconstruction/index.ts'
import { ownVoiceOf, proseOf, sentencesOf, wordsOf } from '../prose.ts'
import { remember } from '../remember.ts'
import { identifyLanguage } from './language.ts'

/** Measurements of an answer, shared by all rules. */
export type AnswerText = {
  text: string
  /** Text without fenced code. */
  prose: string
  /** Text without code and quotes. */
  voice: string
  words: number
  /** Number of properly ended sentences: a lower bound, because list items do not end. */
  sentences: number
  lines: number
  paragraphs: number
  bullets: number
  language: string | undefined
  is_json: boolean
  has_json: boolean
}

/** Measures an answer, once per message. */
export const answerTextOf: (message: Message) => AnswerText = remember(({ text }) => {
  const prose = proseOf(text)
  const lines = prose.split('\n').filter((line) => line.trim() !== '')
  const ended = sentencesOf(prose).filter((sentence) => /[.!?…。！？]["'”’)\]]*$/u.test(sentence))
  return {
    text,
    prose,
    voice: ownVoiceOf(text),
    words: wordsOf(prose).length,
    sentences: ended.filter((sentence) => wordsOf(sentence).length > 1).length,
    lines: lines.length,
    paragraphs: prose.split(/\n\s*\n/).filter((part) => part.trim() !== '').length,
    bullets: lines.filter((line) => bullet.test(line)).length,
    language: identifyLanguage(text),
    is_json: isJson(removeFence(text)),
    has_json: readFencedParts(text).some(isJson),
  }
})

const bullet = /^\s*(?:[-*•–]|\d{1,2}[.)])\s+\S/

/** Returns the content of a fence that encloses the whole text. */
function removeFence(text: string): string {
  const bare = text.trim()
  if (!bare.startsWith('```') || !bare.endsWith('```') || bare.length < 7) return bare
  const inside = bare.slice(3, -3)
  const line = inside.indexOf('\n')
  return line === -1 ? inside : inside.slice(line + 1)
}

function readFencedParts(text: string): string[] {
  return text
    .split('```')
    .filter((_part, at) => at % 2 === 1)
    .map((part) => part.slice(part.indexOf('\n') + 1))
}

function isJson(text: string): boolean {
  const bare = text.trim()
  if (!/^[[{]/.test(bare)) return false
  try {
    JSON.parse(bare)
    return true
  } catch {
    return false
  }
}

import { ownVoiceOf, proseOf, sentencesOf, wordsOf } from '../../../../provenance/text/index.ts'
import type { Message } from '../../../reconstruction/index.ts'
import { remember } from '../../remember.ts'
import { identifyLanguage } from './identify-language.ts'

/** A count that depends on how one counts: the lowest and the highest reading. */
export type Count = { low: number; high: number }

/** Measurements of an answer, shared by all rules. */
export type AnswerText = {
  text: string
  /** Text without fenced code. */
  prose: string
  /** Text without code and quotes. */
  voice: string
  words: Count
  sentences: Count
  /** Characters; the lowest count leaves out white space and marks of Markdown. */
  characters: Count
  lines: number
  paragraphs: Count
  bullets: number
  numbered: number
  language: string | undefined
  is_json: boolean
  has_json: boolean
}

/** Measures an answer, once per message. */
export const answerTextOf: (message: Message) => AnswerText = remember(({ text }) => {
  const prose = proseOf(text)
  const lines = prose.split('\n').filter((line) => line.trim() !== '')
  return {
    text,
    prose,
    voice: ownVoiceOf(text),
    words: countWords(prose),
    sentences: countSentences(prose),
    characters: countCharacters(text),
    lines: lines.length,
    paragraphs: countParagraphs(prose),
    bullets: lines.filter((line) => bullet.test(line)).length,
    numbered: lines.filter((line) => numberedItem.test(line)).length,
    language: identifyLanguage(text),
    is_json: isJson(withoutFence(text)),
    has_json: fencedPartsOf(text).some(isJson),
  }
})

const bullet = /^\s*(?:[-*•–‣▪]|\d{1,2}[.)、])\s*\S/
const numberedItem = /^\s*(?:\*\*)?\d{1,2}[.)、:]\s*\S/
const cjk = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu

/** Compounds with hyphens or slashes are one word or several; the numbers of a list do not count. */
function countWords(prose: string): Count {
  const bare = prose
    .replace(/^\s*(?:\d{1,2}[.)]|[-*•])\s+/gm, '')
    .replace(/https?:\/\/\S+/g, 'link')
  const whole = bare.split(/\s+/).filter((part) => /[\p{L}\p{N}]/u.test(part)).length
  const parts = bare.match(/[\p{L}\p{N}]+(?:['’][\p{L}]+)*/gu)?.length ?? 0
  return { low: Math.min(whole, parts), high: Math.max(whole, parts) }
}

/** A fragment such as "Okay." is a sentence or not; so is a line without a final mark. */
function countSentences(prose: string): Count {
  const all = sentencesOf(prose.replace(/\*\*|__/g, '')).flatMap(splitCjk)
  const ended = all.filter((sentence) =>
    /[.!?…。！？](?:[\s"'”’)\]」』*_]|\p{Emoji_Presentation}|\uFE0F)*$/u.test(sentence),
  )
  const isCjk = cjkShare(prose) > 0.3
  return {
    low: ended.filter((sentence) => isCjk || wordsOf(sentence).length > 1).length,
    high: all.filter((sentence) => /[\p{L}\p{N}]/u.test(sentence)).length,
  }
}

function splitCjk(sentence: string): string[] {
  return /[\p{Script=Han}\p{Script=Hiragana}]/u.test(sentence)
    ? sentence.split(/(?<=[?？!！。])(?=[^」』”"]|$)/u).filter((part) => part.trim() !== '')
    : [sentence]
}

function cjkShare(text: string): number {
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  return letters === 0 ? 0 : (text.match(cjk)?.length ?? 0) / letters
}

/** Counts of Chinese and Japanese mean written signs, perhaps without punctuation. */
function countCharacters(text: string): Count {
  const bare = text.trim()
  const plain = bare.replace(/\*\*|__|^#{1,6} |`/gm, '')
  const low =
    cjkShare(plain) > 0.3
      ? (plain.match(/[\p{L}]|\p{N}+/gu)?.length ?? 0)
      : plain.replace(/\s+/g, ' ').length
  return { low, high: bare.length }
}

/** A signature or a list is a paragraph or not. */
function countParagraphs(prose: string): Count {
  const parts = prose.split(/\n\s*\n/).filter((part) => part.trim() !== '')
  const full = parts.filter(
    (part, at) =>
      (wordsOf(part).length > 4 || (at < parts.length - 1 && isShortSentence(part))) &&
      !/^\s*#{1,6} /.test(part) &&
      !bullet.test(part),
  )
  const lines = prose.split('\n').filter((line) => line.trim() !== '').length
  return { low: full.length, high: Math.max(parts.length, lines) }
}

/** "You are." is a paragraph before others; a greeting is not. */
function isShortSentence(part: string): boolean {
  return (
    /[.!?]\s*$/.test(part) &&
    !/^\W*(?:hi|hello|hey|dear|hallo|hola|bonjour|thanks?|sure|yes|no|ok(?:ay)?)(?!\p{L})/iu.test(
      part,
    )
  )
}

/** Returns the content of a fence that encloses the whole text. */
export function withoutFence(text: string): string {
  const bare = text.trim()
  if (!bare.startsWith('```') || !bare.endsWith('```') || bare.length < 7) return bare
  const inside = bare.slice(3, -3)
  const line = inside.indexOf('\n')
  return line === -1 ? inside : inside.slice(line + 1)
}

function fencedPartsOf(text: string): string[] {
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

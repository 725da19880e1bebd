import { BoundedCache } from '../../../../../kernel/bounded-cache.ts'
import { proseOf, sentencesOf } from '../../../../provenance/text/index.ts'
import { askedIn } from './asked.ts'
import { conditionOf, isDirective, isQuestion } from './mood.ts'
import { ownWordsOf } from './own-words.ts'
import { type MaskedText, maskQuotes, phrasesIn, unmaskQuotes } from './quotes.ts'
import { changesRules, extendsRules, isLasting, isOneTurn, readEvent, type Scope } from './scope.ts'
import { type Products, productsOf } from './subject.ts'

/** A part of a sentence in which rules are read, with what the sentence says about them. */
export type Segment = Scope & {
  role: 'system' | 'user'
  /** The whole sentence as it was written. */
  sentence: string
  /** True if a colon follows. */
  isHead: boolean
  /** The part before its colon: "hard limit" of "hard limit: 160 characters". */
  head: string
  /** The part, with quotes replaced by marks. */
  text: string
  phrases: readonly string[]
  /** True if the sentence is about one answer: "just this once". */
  isOnce: boolean
  /** True if it changes what was said before: "make it four instead". */
  isChange: boolean
  /** The condition under which its rules hold; undefined without one. */
  condition?: string
  /** Tells whether a rule at a position is asked for, and not reported or asked about. */
  isAskedAt(start: number): boolean
}

/** A sentence of a message: its segments, and whether it says how long the rules before it hold. */
export type Sentence = { written: string; segments: readonly Segment[]; isExtension: boolean }

/** Sentences kept, for all tasks of the process together. */
const sentences_max = 1_024

/** Splits a message into sentences and segments. */
export function readSentences(text: string, role: 'system' | 'user'): Sentence[] {
  const said = ownWordsOf(proseOf(text), role)
  const masked = maskQuotes(said)
  const isBrief = role === 'user' && brief.test(text.trim())
  const setting = { role, isBrief, products: productsOf(said, role) }
  const found: Sentence[] = []
  let before: Carried = { isLasting: false, head: '', text: '' }
  for (const raw of sentencesOf(masked.text).flatMap(splitCjk)) {
    const sentence = sentenceOf(raw, masked, { ...setting, before })
    found.push(sentence)
    before = carry(raw, sentence, before)
  }
  return found
}

/** Returns what a sentence tells about the next: a header passes on its scope and its "do not". */
function carry(raw: string, { segments }: Sentence, before: Carried): Carried {
  const [last] = segments.slice(-1)
  const isHeader = /[:：]\s*$/.test(raw)
  const isItem = segments.length === 1 && !/[.!?]$/.test(raw)
  const head = isHeader && forbidding.test(raw) ? raw.replace(/[:：]\s*$/, '') : ''
  return {
    isLasting: last?.holds === 'always' && (isHeader || !isQuestion(raw)),
    head: isHeader || !isItem ? head : before.head,
    text: raw,
    ...(isHeader && last?.condition !== undefined && { condition: last.condition }),
  }
}

const forbidding =
  /(?:do not|don'?ts?|never|avoid|not allowed|forbidden|banned|must not|may not|no|without|nicht|nie|nunca|jamais|evita|évite)\W*$/iu

/** A user who assigns a role gives rules for the whole conversation. */
const brief =
  /^(?:you are|you're|act as|pretend|imagine you|let's play|play an? |(?:talk|speak|write|reply) (?:to me )?like |du bist|eres|tu es|你是|あなたは)/i

type Carried = { isLasting: boolean; head: string; text: string; condition?: string }

/** A sentence about the topic of the previous sentence: "Leave them out." */
const pointsBack =
  /^(?:so |and |please |pls |but |just )*(?:leave|(?:don't|do not|never) (?:use|output|include|write|send|add)|avoid|skip|drop|stop using|keep)\b.{0,12}\b(?:them|it|those|that|any|none)\b|^(?:use )?none\b/i
type Setting = { role: 'system' | 'user'; isBrief: boolean; products: Products; before: Carried }

function splitCjk(sentence: string): string[] {
  return /[\p{Script=Han}\p{Script=Hiragana}]/u.test(sentence)
    ? sentence.split(/(?<=[?？!！。])\s*/u).filter((part) => part !== '')
    : [sentence]
}

/**
 * Sentences by their words and what comes before: a system text that changes with each call, as by
 * the time of day, costs only its new sentences.
 */
const known = new BoundedCache<string, Sentence>(sentences_max)

function sentenceOf(raw: string, masked: MaskedText, setting: Setting): Sentence {
  const { role, isBrief, products, before } = setting
  const around = [
    role,
    isBrief,
    [...products].join(' '),
    before.isLasting,
    before.head,
    before.condition ?? '',
  ]
  const text = pointsBack.test(raw) ? before.text : ''
  const key = [...around, text, raw, ...phrasesIn(raw, masked.written)].join('\n')
  const found = known.get(key) ?? toSentence(raw, masked, setting)
  known.set(key, found)
  return found
}

function toSentence(
  raw: string,
  masked: MaskedText,
  { role, isBrief, products, before }: Setting,
): Sentence {
  const written = unmaskQuotes(raw, masked)
  const phrases = phrasesUsed(`${before.text} ${raw}`, masked.phrases)
  const whole = pointsBack.test(raw) ? `${before.text.replace(/[.!?]$/, '')}, ${raw}` : raw
  const plain = whole
    .replace(/\*\*|__/g, '')
    .replace(/[’`]/g, "'")
    .replace(/\u2024/g, ' ')
    .replace(/never,? ever/gi, 'never')
    .replace(/(?:^|\s)\(?(?:[a-h]|\d{1,2}|i{1,3}|iv|v)\) (?=\p{L})/giu, '; ')
    .replace(/[  ]/g, ' ')
  const isAlways = isLasting(plain)
  const isOnce = isOneTurn(plain)
  const holds =
    role === 'system' || isAlways || (!isOnce && (isBrief || before.isLasting)) ? 'always' : 'turn'
  const until = readEvent(plain)
  const event = until !== undefined && role === 'user' ? { until } : {}
  const isChange = role === 'user' && !isOnce && changesRules(plain)
  const head: Head = {
    isAsked: role === 'system' || isAlways,
    condition: before.condition,
    text: before.head,
  }
  const segments = splitSegments(plain).map(({ text, closes }): Segment => {
    const condition = head.condition ?? conditionOf(text)
    const segment: Segment = {
      role,
      sentence: written,
      isHead: closes,
      head: head.text,
      isChange,
      isOnce,
      text,
      phrases,
      holds: event.until === undefined ? holds : 'always',
      ...event,
      ...(condition !== undefined && { condition }),
      isAskedAt: askedIn(text, { ...head, condition, role, isAlways, products }),
    }
    head.text = closes ? text : before.head
    if (closes) {
      head.condition = condition
      head.isAsked ||= isDirective(text) || head.condition !== undefined
    }
    return segment
  })
  return { written, segments, isExtension: extendsRules(plain) }
}

/** Returns the phrases at their places, without those of other sentences. */
function phrasesUsed(text: string, phrases: readonly string[]): readonly string[] {
  return text.includes('⟦')
    ? phrases.map((phrase, at) => (text.includes(`⟦${at}⟧`) ? phrase : ''))
    : []
}

type Head = { isAsked: boolean; condition: string | undefined; text: string }

/** Splits at colons, semicolons, dashes and "but"; a colon passes its head on to what follows. */
function splitSegments(sentence: string): { text: string; closes: boolean }[] {
  const parts = sentence.split(
    /(:(?=\s|$)|[：;；]|\s(?:->|=>|→)\s|\s[–—-]+\s|,? (?:but|aber|pero|mais) (?!only|also|sondern|no\b))/u,
  )
  const found: { text: string; closes: boolean }[] = []
  for (let at = 0; at < parts.length; at += 2) {
    const text = (parts[at] ?? '').trim()
    if (text !== '') found.push({ text, closes: /[:：>→]/.test(parts[at + 1] ?? '') })
  }
  return found
}

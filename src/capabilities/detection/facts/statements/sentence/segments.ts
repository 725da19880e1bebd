import { BoundedCache } from '../../../../../kernel/bounded-cache.ts'
import { proseOf, sentencesOf } from '../../../../provenance/text/index.ts'
import { askedIn } from './asked.ts'
import { conditionOf, isDemand, isDirective, isQuestion } from './mood.ts'
import { ownWordsOf } from './own-words.ts'
import { pointsBack } from './pointing.ts'
import { type MaskedText, maskQuotes, phrasesIn, unmaskQuotes } from './quotes.ts'
import {
  announcesRules,
  changesRules,
  extendsRules,
  isLasting,
  isOneTurn,
  readEvent,
  type Scope,
} from './scope.ts'
import { spellSections } from './sections.ts'
import { isStandalone } from './standalone.ts'
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
  /** True if its rules last because it only gives rules, without a word that says so. */
  isAssumed: boolean
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
  const prose = proseOf(role === 'system' ? spellSections(spellSettings(text)) : text)
  const said = ownWordsOf(prose, role)
  const masked = maskQuotes(said)
  const isBrief = role === 'user' && brief.test(text.trim())
  const products = productsOf(said, role)
  const isAlone = role === 'user' && !hasProduct(products) && !isOneRule(said)
  const setting = { role, isBrief, isAlone, products }
  const found: Sentence[] = []
  let before: Carried = { isLasting: false, isRules: false, head: '', text: '' }
  for (const raw of sentencesOf(masked.text).flatMap(splitCjk)) {
    const sentence = sentenceOf(raw, masked, { ...setting, before })
    found.push(sentence)
    before = carry(raw, sentence, before)
  }
  return found
}

/** Stands for the underscore of a setting, so that its quote can be written as it was. */
const joint = '\u2007'

/** Tells whether a message asks for a text besides the answers themselves. */
function hasProduct(products: Products): boolean {
  return [...products].some(
    (name) =>
      !/^(?:answer|repli|respons|messag|text|you|me|us|it|them|that|this|thing|somethi\p{L}*|more|les|all|any|one)$/u.test(
        name,
      ),
  )
}

/** A message that is only "no longer than two sentences please" is about the answer before it. */
function isOneRule(text: string): boolean {
  return !/[.!?。！？,;]\s*\S|\n|(?<!\p{L})(?:because|cause|cuz|since|so|my|i|i'm|we|our|ever)(?!\p{L})/iu.test(
    text,
  )
}

/** Writes settings as words: `max_words: 60` and `<max_words>60</max_words>` are "max words: 60". */
function spellSettings(text: string): string {
  return text
    .replace(/^\s*```\w*\n([\s\S]*?)\n```\s*$/, '$1')
    .replace(/^\|[ \t]*([^|\n]{1,60}?)[ \t]*\|[ \t]*([^|\n]{1,300}?)[ \t]*\|[ \t]*$/gm, '$1: $2')
    .replace(/<\/?(?:rules?|item|li|instructions?|style|constraints?|points?|ul|ol|p|b)>/gi, ' ')
    .replace(/<([a-z][a-z_]{2,30})>([^<>\n]{1,80})<\/\1>/gi, '$1: $2')
    .replace(
      /^[ \t]*<(avoid|never|(?:must|do|should)[_-]?not|don'?ts?|forbidden|banned|no)>[ \t]*$/gim,
      'Never:',
    )
    .replace(/: *\[([^[\]\n]{1,200})\][ \t]*$/gm, ': $1')
    .replace(/: *["'](off|no|none|never|false|forbidden)["']/gi, ': $1')
    .replace(/^[ \t]*<\/[a-z][a-z_-]{2,30}>[ \t]*$/gim, '\n---\n')
    .replace(/^[ \t"'-]*[a-z]+(?:_[a-z]+)+["']?[ \t]*[:=].*$/gim, (line) =>
      line.replace(/(?<=[a-z])_(?=[a-z])/gi, joint).replace(/["']?\s*=\s*/, ': '),
    )
}

/** Returns what a sentence tells about the next: a header passes on its scope and its "do not". */
function carry(raw: string, { segments }: Sentence, before: Carried): Carried {
  const [last] = segments.slice(-1)
  const isHeader = /[:：]\s*$/.test(raw)
  const isAsking = isQuestion(raw) || /[?？]\s*$/.test(raw)
  const isItem =
    segments.length === 1 &&
    (!/[.!?]$/.test(raw) || (wordsIn(raw) <= item_words_max && !isDirective(raw)))
  const head = isHeader && forbidding.test(raw) ? raw.replace(/[:：]\s*$/, '') : ''
  return {
    isLasting: last?.holds === 'always' && !last.isAssumed && (isHeader || !isQuestion(raw)),
    isRules: !isAsking && (before.isRules || (last?.role === 'user' && announcesRules(raw))),
    head: isHeader || !isItem ? head : before.head,
    text: raw,
    ...(isHeader && last?.condition !== undefined && { condition: last.condition }),
  }
}

const forbidding =
  /(?:do not|don'?ts?|never|avoid|not allowed|forbidden|banned|must not|may not|no|without|nicht|nie|nunca|jamais|evita|évite)\W*$/iu

/** A full sentence of an item is longer: "Exclamations." */
const item_words_max = 6

function wordsIn(text: string): number {
  return text.trim().split(/\s+/).length
}

/** A user who assigns a role gives rules for the whole conversation. */
const brief =
  /^(?:role-?play\W+)?(?:you are|you're|act as|be (?:my|an?) |pretend|imagine you|let's play|play an? |(?:talk|speak|write|reply) (?:to me )?like |du bist|eres|tu es|你是|あなたは)/i

type Carried = {
  isLasting: boolean
  isRules: boolean
  head: string
  text: string
  condition?: string
}

type Setting = {
  role: 'system' | 'user'
  isBrief: boolean
  isAlone: boolean
  products: Products
  before: Carried
}

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
  const { role, isBrief, isAlone, products, before } = setting
  const around = [
    role,
    isBrief,
    isAlone,
    [...products].join(' '),
    before.isLasting,
    before.isRules,
    before.head,
    before.condition ?? '',
  ]
  const text = pointsBack(raw) ? before.text : ''
  const key = [...around, text, raw, ...phrasesIn(raw, masked.written)].join('\n')
  const found = known.get(key) ?? toSentence(raw, masked, setting)
  known.set(key, found)
  return found
}

function toSentence(
  raw: string,
  masked: MaskedText,
  { role, isBrief, isAlone, products, before }: Setting,
): Sentence {
  const written = unmaskQuotes(raw, masked).replaceAll(joint, '_')
  const phrases = phrasesUsed(`${before.text} ${raw}`, masked.phrases)
  const whole = pointsBack(raw) ? `${before.text.replace(/[.!?…]+$/, '')}, ${raw}` : raw
  const plain = whole
    .replace(/\*\*|__/g, '')
    .replace(/[’`]/g, "'")
    .replace(/[\u2024\u2007]/g, ' ')
    .replace(/never,? (?:ever|(?:and )?i mean (?:it,?|never,?)|i repeat,?)/gi, 'never')
    .replace(/(?:^|\s)(?:\(?(?:[a-hα-θ]|\d{1,2}|i{1,3}|iv|v)\)|\d{1,2}\/) (?=\p{L})/giu, '; ')
    .replace(/[  ]/g, ' ')
  const isOnce = isOneTurn(plain)
  const isRules = role === 'user' && (before.isRules || announcesRules(plain))
  const isAlways =
    isLasting(plain) || (isRules && !isOnce && !isQuestion(plain)) || goesOn(plain, before)
  const isLong = role === 'system' || isAlways || (!isOnce && (isBrief || before.isLasting))
  const isAssumed = !isLong && !isOnce && isAlone && isStandalone(plain)
  const holds = isLong || isAssumed ? 'always' : 'turn'
  const until = readEvent(plain, phrases)
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
      isAssumed,
      text,
      phrases,
      holds: event.until === undefined ? holds : 'always',
      ...event,
      ...(condition !== undefined && { condition }),
      isAskedAt: askedIn(text, {
        ...head,
        condition,
        role,
        isAlways: isAlways || isOnce,
        products,
      }),
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

/** Tells whether a user's sentence goes on with lasting rules, and does not turn to something else. */
function goesOn(text: string, before: Carried): boolean {
  return (
    before.isLasting &&
    (isDirective(text) || isDemand(text) || ofAnswers.test(text)) &&
    !turns.test(text)
  )
}

const ofAnswers =
  /^\W*(?:(?:and|but|also|plus|so),? )*(?:you|your|u|each|every|all|any|no|never|repl(?:y|ies)|answers?|responses?|messages?)(?!\p{L})/iu
const turns =
  /^\W*(?:(?:i|i'm|im|i've|my|he|she|they|we|what|how|who|where|when|why|can|could|is|are|do|does|ich|wir|je|nous|yo|tell|write|explain|describe|give|today|yesterday|now|first|also ich)(?!\p{L}))|[?？]\s*$/iu

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
    /(:(?=\s|$)|[：;；]|\s(?:->|=>|→)\s|(?<=^[^\d=]{1,40})\s=\s|\s[–—-]+\s|(?<!nothing|anything|everything),? (?:but|aber|pero|mais) (?!only|also|sondern|no\b))/iu,
  )
  const found: { text: string; closes: boolean }[] = []
  for (let at = 0; at < parts.length; at += 2) {
    const text = (parts[at] ?? '').trim()
    const last = found.at(-1)
    // "Italics are hard to read; avoid them."
    if (last !== undefined && !last.closes && pointsBack(text)) last.text += `, ${text}`
    else if (text !== '') found.push({ text, closes: /[:：>→=]/.test(parts[at + 1] ?? '') })
  }
  return found
}

import { grammarWords, stem, tokenize } from '../../provenance/text/index.ts'
import {
  agrees,
  isSameKind,
  type Quantity,
  readFactUnit,
  readQuantities,
} from '../../provenance/values/index.ts'
import type { Question } from '../knowledge/library.ts'
import { hasQualifier, isNegated, isQuestion } from './claim-words.ts'
import { judgeTextFact } from './judge-text-fact.ts'
import { readAdverbs, readPeriods, withoutPeriods } from './periods.ts'
import type { Judgement } from './verdict.ts'

/** A structured fact: `{subject: 'Lake Miren', attribute: 'area', value: 412, unit: 'km²'}`. */
export interface Fact {
  readonly source: string
  readonly subject: string
  readonly attribute: string
  /** A number, or a text: a date, or yes or no, can decide. */
  readonly value: number | string
  /** Unit of a number, such as `EUR/month`; empty for a bare number, such as a population. */
  readonly unit: string
}

type FactVerdict = 'supported' | 'contradicted' | 'unverifiable'

/** Share of an attribute's words from which an equal value supports a claim. */
const minAttributeShare = 0.5
/** Facts that one claim is compared with. */
export const facts_max = 10_000

/**
 * Words of a comparison, a change or a part; the number beside them is not the attribute's value.
 */
const relativeWords = new Set(
  terms(
    'than difference differ rose fell rise fall increase decrease grew drop change gain loss lost ' +
      'higher lower larger smaller longer shorter deeper cheaper dearer heavier lighter extra ' +
      'additional save discount half twice double third quarter average per each every total ' +
      'together combined sum both further another running formerly previously earlier forecast expect plan next last',
  ),
)

/**
 * Judges a claim by structured facts. A fact decides only if the claim has its subject, all words
 * of its attribute and exactly one number of its kind of unit, or one date, or says that it has the
 * attribute or not. Units are converted within a kind, bounds and roundings are honoured, and
 * everything else stays `unverifiable`.
 */
export function judgeByFacts(claim: Question, facts: readonly Fact[]): Judgement {
  const open: Judgement = {
    verdict: 'unverifiable',
    confidence: 0.5,
    method: 'facts',
    evidence: [],
  }
  const compared = facts.slice(0, facts_max)
  const subject = findSubject(claim, compared)
  if (subject === undefined || isQuestion(claim.text)) return open
  const known = compared.filter((fact) => normalise(fact.subject) === subject)
  const complete = mostSpecific(known.filter((fact) => attributeShare(claim, fact) === 1))
  const verdict = agreedVerdict(claim, complete)
  if (verdict !== undefined) return judgement(verdict, 0.97, complete)
  // An attribute in other words can support, when the value is right, but never contradict.
  const partial = known.filter((fact) => attributeShare(claim, fact) >= minAttributeShare)
  const matching = partial.filter((fact) => compareWithFact(claim, fact) === 'supported')
  const isOpen = complete.length > 0 || matching.length !== 1
  return isOpen ? open : judgement('supported', 0.9, matching)
}

/** Returns the verdict of facts that all say the same. */
function agreedVerdict(claim: Question, facts: readonly Fact[]): FactVerdict | undefined {
  const [first, ...others] = facts.map((fact) => compareWithFact(claim, fact))
  return first === 'unverifiable' || others.some((other) => other !== first) ? undefined : first
}

function judgement(verdict: FactVerdict, confidence: number, facts: readonly Fact[]): Judgement {
  const evidence = facts.map((fact) => ({ source: fact.source, quote: describeFact(fact) }))
  return { verdict, confidence, method: 'facts', evidence }
}

/** Writes a fact as text. */
function describeFact({ subject, attribute, value, unit }: Fact): string {
  return `${subject}: ${attribute} = ${value} ${unit}`.trimEnd()
}

function terms(text: string): string[] {
  return tokenize(text).map(({ term }) => term)
}

function normalise(text: string): string {
  return terms(text).join(' ')
}

/**
 * Finds the one subject that a claim names, else the one that its question names. A longer subject
 * wins over one inside it (`V5 Pro` over `V5`); two subjects are ambiguous.
 */
function findSubject({ text, context = '' }: Question, facts: readonly Fact[]): string | undefined {
  const subjects = [...new Set(facts.map(({ subject }) => normalise(subject)))]
  const named = namedSubjects(text, subjects)
  const found = named.length > 0 ? named : namedSubjects(context, subjects)
  return found.length === 1 ? found[0] : undefined
}

function namedSubjects(text: string, subjects: readonly string[]): string[] {
  const padded = ` ${normalise(text)} `
  const named = subjects.filter((subject) => padded.includes(` ${subject} `))
  return named.filter(
    (subject) => !named.some((other) => other !== subject && ` ${other} `.includes(` ${subject} `)),
  )
}

function attributeTerms({ attribute, subject }: Fact): string[] {
  const own = new Set(terms(subject))
  // `monthly price` has a period, which is compared apart from the words.
  const words = terms(withoutPeriods(attribute)).filter((term) => !grammarWords.has(term))
  return words.filter((term) => !own.has(term))
}

/** Returns the share of an attribute's words in a claim; years may come from its question. */
function attributeShare({ text, context = '' }: Question, fact: Fact): number {
  // `A charger costs 69 euros` does not state the price of the camera in the question.
  const isOwn = namedSubjects(text, [normalise(fact.subject)]).length > 0 || pronoun.test(text)
  const inClaim = isOwn ? withForms(terms(text)) : new Set(terms(text))
  const inBoth = new Set([...inClaim, ...terms(context)])
  const wanted = attributeTerms(fact)
  const found = wanted.filter((term) => (isYear(term) ? inBoth : inClaim).has(term))
  return wanted.length === 0 ? 0 : found.length / wanted.length
}

/** Words of claims and the attributes that they state: `costs` is a price. */
const forms: readonly (readonly [string, string])[] = [
  ['cost', 'price'],
  ['price', 'cost'],
  ['weigh', 'weight'],
  ['tall', 'height'],
  ['high', 'height'],
  ['long', 'length'],
  ['wide', 'width'],
  ['deep', 'depth'],
].map(([one = '', other = '']) => [stem(one), stem(other)])

/** A claim about what its question names. */
const pronoun = /^\W{0,4}(?:it|they|er|sie|es|il|elle|ella)(?!\p{L})/iu

function withForms(words: readonly string[]): Set<string> {
  const known = new Set(words)
  for (const [word, attribute] of forms) if (words.includes(word)) known.add(attribute)
  return known
}

function isYear(term: string): boolean {
  return /^(?:19|20)\d\d$/.test(term)
}

/** Keeps the facts with the most words: `net profit 2024` over `profit`. */
function mostSpecific(facts: readonly Fact[]): Fact[] {
  const most = Math.max(0, ...facts.map((fact) => attributeTerms(fact).length))
  return facts.filter((fact) => attributeTerms(fact).length === most)
}

function compareWithFact(claim: Question, fact: Fact): FactVerdict {
  const { text, context = '' } = claim
  const { value } = fact
  if (typeof value === 'string') return compareWithText(claim, fact, value)
  if (isNegated(text)) return 'unverifiable'
  const unit = readFactUnit(withoutPeriods(fact.unit))
  const stated = statedQuantity(text, fact, unit.kind)
  if (stated === undefined || hasOtherYear(`${text} ${context}`, fact)) return 'unverifiable'
  if (isRelative(text, fact)) return 'unverifiable'
  const known = value * unit.factor
  if (agrees(stated, known)) return 'supported'
  // A value that another rounding would explain is left open.
  const rounding = Math.max(Math.abs(known) * 0.01, stated.step / 2)
  const isRounded = stated.bound === undefined && Math.abs(stated.value - known) <= rounding
  if (isRounded) return 'unverifiable'
  return 'contradicted'
}

function compareWithText(claim: Question, fact: Fact, value: string): FactVerdict {
  if (attributeShare(claim, fact) < 1 || isRelative(claim.text, fact)) return 'unverifiable'
  const own = new Set([...terms(fact.subject), ...attributeTerms(fact)])
  return judgeTextFact(claim.text, { value, own })
}

/** Returns the claim's one number in the fact's kind of unit. */
function statedQuantity(text: string, fact: Fact, kind: string): Quantity | undefined {
  const own = new Set([...terms(fact.subject), ...attributeTerms(fact)])
  const candidates = readQuantities(text).filter((quantity) => {
    if (quantity.kind !== undefined) return isSameKind(quantity.kind, kind)
    if (own.has(String(quantity.value)) || isYear(String(quantity.value))) return false
    if (kind === '') return true
    return terms(text.slice(quantity.end, quantity.end + 40))
      .slice(0, 3)
      .some((term) => kind === `count of ${term}`)
  })
  return candidates.length === 1 ? candidates[0] : undefined
}

function hasOtherYear(text: string, fact: Fact): boolean {
  const own = new Set(yearsIn(`${fact.subject} ${fact.attribute}`))
  return yearsIn(text).some((year) => !own.has(year))
}

/** Returns the bare numbers of a text that may be years: `2024`, but not `2024 km`. */
function yearsIn(text: string): string[] {
  const bare = readQuantities(text).filter(({ kind }) => kind === undefined)
  return bare.map(({ value }) => String(value)).filter(isYear)
}

/** `Three of the four bands` counts a part. */
const partitive =
  /(?<!\p{L})(?:out of|of (?:the|its|their|our|these|those|all)|von (?:den|allen|ihren)|des|de (?:los|las|sus)) (?:\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|zwei|drei|vier|fünf|sechs|deux|trois|quatre|cinq|dos|tres|cuatro|cinco)(?!\p{L})/iu

function isRelative(text: string, fact: Fact): boolean {
  const own = new Set(attributeTerms(fact))
  // A subject such as `Starter plan` compares nothing.
  const rest = withoutSubject(text, fact.subject)
  const withoutBounds = withoutPeriods(rest).replace(/\b(?:more|less|fewer) than\b/giu, ' ')
  return (
    hasQualifier(rest) ||
    hasOtherPeriod(rest, fact) ||
    partitive.test(rest) ||
    terms(withoutBounds).some((term) => relativeWords.has(term) && !own.has(term))
  )
}

function withoutSubject(text: string, subject: string): string {
  const words = subject.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
  const escaped = words.map((word) => RegExp.escape(word)).join('[^\\p{L}\\p{N}]+')
  return text.replace(new RegExp(`(?<!\\p{L})${escaped}(?!\\p{L})`, 'giu'), ' ')
}

/**
 * Finds `€18 million a year` where the fact has no year: a rate is not a total, and a price per month
 * is not one per year. Periods that a claim leaves out are other periods too.
 */
function hasOtherPeriod(text: string, { attribute, unit }: Fact): boolean {
  const own = `${attribute} ${unit}`
  const known = readPeriods(own).union(readAdverbs(own))
  const stated = readPeriods(text)
  if (!stated.isSubsetOf(known.union(periodWords(attribute)))) return true
  return !known.isSubsetOf(stated.union(readAdverbs(text)))
}

/** An attribute such as `nights` may follow an article in a claim. */
function periodWords(attribute: string): Set<string> {
  return readPeriods(`per ${attribute.split(/\s+/).join(' per ')}`)
}

import { checkAnswer, indexSeen } from '../../provenance/sources/index.ts'
import { compact, tokenize } from '../../provenance/text/index.ts'
import {
  agrees,
  isComparable,
  type Quantity,
  readQuantities,
  readValues,
} from '../../provenance/values/index.ts'
import type { Blank } from './blank-question.ts'

/** How the answers of models compare with a claim. */
export type Agreement = 'agree' | 'disagree' | 'unclear'

/** Share by which numbers of models may differ. */
const tolerance = 0.01

/**
 * Compares the values of models for a blank with the claim. `agree`: most answers, at least two,
 * and for numbers their median. `disagree`: at least two answers, all of them equal and none of the
 * claim's.
 */
export function compareAnswers(blank: Blank, answers: readonly string[]): Agreement {
  if (answers.length < 2) return 'unclear'
  const stated = statedNumber(blank)
  return stated === undefined ? compareTexts(blank, answers) : compareNumbers(stated, answers)
}

/** Returns whether one answer agrees with the value of a blank. */
export function isSameAnswer(blank: Blank, answer: string): boolean {
  const stated = statedNumber(blank)
  if (stated === undefined) return isSame(blank, answer)
  const number = toNumber(answer)
  return number !== undefined && isComparable(stated, number) && isNear(stated, number.value)
}

/**
 * Returns the number of a blank; undefined for names, dates and years, which are compared exactly.
 */
function statedNumber({ kind, text }: Blank): Quantity | undefined {
  return kind === 'name' || kind === 'date' || isYear(text) ? undefined : toNumber(text)
}

function compareNumbers(stated: Quantity, answers: readonly string[]): Agreement {
  const numbers = answers.flatMap((answer) => {
    const number = toNumber(answer)
    return number !== undefined && isComparable(stated, number) ? number.value : []
  })
  if (numbers.length < 2) return 'unclear'
  const middle = median(numbers)
  const same = numbers.filter((value) => isNear(stated, value)).length
  if (same * 2 > numbers.length && same > 1 && isNear(stated, middle)) return 'agree'
  const isUniform = numbers.every(
    (value) => Math.abs(value - middle) <= Math.abs(middle) * tolerance,
  )
  return same === 0 && isUniform ? 'disagree' : 'unclear'
}

function toNumber(text: string): Quantity | undefined {
  const [number, ...others] = readQuantities(text.slice(0, 200))
  return others.length === 0 ? number : undefined
}

function isNear(stated: Quantity, value: number): boolean {
  const isClose = Math.abs(value - stated.value) <= Math.abs(stated.value) * tolerance
  return stated.bound === undefined ? isClose || agrees(stated, value) : agrees(stated, value)
}

/** Years are compared exactly: 1 % of 2024 are 20 years. */
function isYear(text: string): boolean {
  return /^(?:1[0-9]|20)\d{2}$/.test(text)
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other)
  const [low = 0, high = 0] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
  return (low + high) / 2
}

function compareTexts(blank: Blank, answers: readonly string[]): Agreement {
  const single = answers.filter((answer) => isSingle(blank, answer))
  const same = single.filter((answer) => isSame(blank, answer)).length
  if (same * 2 > answers.length && same > 1) return 'agree'
  const isUniform = single.length === answers.length && new Set(answers.map(compact)).size === 1
  return same === 0 && isUniform ? 'disagree' : 'unclear'
}

/** Words that a name may have besides those of the claim: titles, a country. */
const maxMoreWords = 3
const alternatives = /[;/|\n]|\s(?:or|oder|ou|o)\s/i

/** Returns whether an answer is one value: a list of many would agree with every claim. */
function isSingle({ kind, text }: Blank, answer: string): boolean {
  if (compact(text) === compact(answer)) return true
  if (kind === 'name') {
    const words_max = tokenize(text).length + maxMoreWords
    return tokenize(answer).length <= words_max && !alternatives.test(answer)
  }
  const values = readValues(answer.slice(0, text.length + answer_chars_max))
  return (
    answer.length <= text.length + answer_chars_max &&
    values.filter((value) => value.kind !== 'weekday').length <= 1
  )
}

/** Characters of an answer besides the value of the claim. */
const answer_chars_max = 200

function isSame({ kind, text }: Blank, answer: string): boolean {
  if (compact(text) === compact(answer)) return true
  if (kind === 'name') {
    // The first of several names is the answer: `Paris, France`, but not `Rome, Paris`.
    const [first = ''] = answer.split(',')
    return hasAllWords(text, first) || hasAllWords(first, text)
  }
  const checked = checkAnswer(text, indexSeen([{ source: 'answer', text: answer }]))
  return checked.length > 0 && checked.every(({ verdict }) => verdict === 'seen')
}

function hasAllWords(part: string, whole: string): boolean {
  const words = new Set(tokenize(whole).map(({ term }) => term))
  const wanted = tokenize(part)
  return wanted.length > 0 && wanted.every(({ term }) => words.has(term))
}

import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { findPassages } from '../../src/capabilities/verification/knowledge/library.ts'
import {
  compareSentences,
  isQuoted,
  readClaim,
} from '../../src/capabilities/verification/verdicts/compare-claim.ts'
import { findObstacles } from '../../src/capabilities/verification/verdicts/find-obstacles.ts'
import { compare } from '../../src/capabilities/verification/verdicts/judge-by-words.ts'
import { supportWeights } from '../../src/capabilities/verification/verdicts/support-weights.ts'
import { readCorpus } from './claims-corpus.ts'
import { fitLogistic, type LogisticModel, predict } from './logistic.ts'

/**
 * Fits the weights of the signs of support to the tuning half, and prints how the fit does on sets
 * that were left out of it: `node bench/verification/fit.ts`. With `--write`, the weights and the
 * threshold are written to `support-weights.ts`.
 */
const { values } = parseArgs({ options: { write: { type: 'boolean', default: false } } })
const folder = 'bench/verification/corpus/tuning'
/** Sets of the tuning half; no two have a document in common. */
const sets = ['a', 'n', 'q', 'd']
/** L2 penalty of the weights. */
const ridge = 30
/** Share of all claims that the threshold lets pass on sets that were left out of the fit. */
const coverage_goal = 0.05
const signs = Object.keys(supportWeights) as (keyof typeof supportWeights)[]

/** A labelled claim, compared with its best sentence. */
type Example = {
  set: string
  isSupported: boolean
  isOpen: boolean
  isQuote: boolean
  row: number[]
}

const examples = sets.flatMap(readExamples)
const rated = sets.flatMap((set) => {
  const model = fitExamples(examples.filter((example) => example.set !== set))
  return examples
    .filter((example) => example.set === set)
    .map((example) => ({ ...example, support: predict(model, example.row) }))
})
const passing = rated
  .filter(({ isOpen, isQuote }) => isOpen || isQuote)
  .toSorted((one, other) => rankOf(other) - rankOf(one))
for (const share of [0.02, 0.03, 0.04, coverage_goal, 0.06]) {
  const best = passing.slice(0, Math.round(share * examples.length))
  const bySet = sets.map((set) => `${set} ${rightOf(best.filter((one) => one.set === set))}`)
  console.log(`coverage ${share.toFixed(2)}: ${rightOf(best)} right (${bySet.join(', ')})`)
}
const last = passing.slice(0, Math.round(coverage_goal * examples.length)).at(-1)
const threshold = Math.round((last?.support ?? 1) * 100) / 100
const model = fitExamples(examples)
console.log(`threshold ${threshold}; ${describe(model)}`)
if (values.write) await write(model, threshold)

function readExamples(set: string): Example[] {
  const { answers, library } = readCorpus(folder, set)
  return answers.flatMap(({ question, claims }) =>
    claims.map(({ text, label }) => {
      const asked = { text, context: question }
      const passages = findPassages(library, asked)
      const claim = readClaim(asked, passages[0]?.weights ?? new Map())
      const compared = compareSentences(claim, passages)
      const comparison = compare(claim, compared)
      const read = comparison?.signs
      return {
        set,
        isSupported: label === 'supported',
        isOpen: comparison !== undefined && findObstacles(comparison).length === 0,
        isQuote: compared.some((sentence) => isQuoted(text, sentence.text)),
        row: signs.map((sign) => read?.[sign] ?? 0),
      }
    }),
  )
}

function fitExamples(some: readonly Example[]): LogisticModel {
  return fitLogistic(
    some.map(({ row }) => row),
    some.map(({ isSupported }) => isSupported),
    ridge,
  )
}

/** Quotes come before all others: no threshold applies to them. */
function rankOf({ isQuote, support }: { isQuote: boolean; support: number }): number {
  return isQuote ? 1 + support : support
}

function rightOf(some: readonly Example[]): string {
  const right = some.filter(({ isSupported }) => isSupported).length
  return `${right} of ${some.length} (${(right / some.length).toFixed(3)})`
}

function describe({ weights, intercept }: LogisticModel): string {
  const each = signs.map((sign, at) => `${sign} ${weights[at]?.toFixed(2)}`)
  return `${each.join(', ')}, intercept ${intercept.toFixed(2)}`
}

async function write({ weights, intercept }: LogisticModel, likely_min: number): Promise<void> {
  const rounded = (value = 0) => Math.round(value * 100) / 100
  const lines = [
    '/**',
    ` * Weights of the signs of support: a logistic regression on ${examples.length.toLocaleString('en')} labelled claims.`,
    ' * `node bench/verification/fit.ts --write` writes this file.',
    ' */',
    'export const supportWeights = {',
    ...signs.map((sign, at) => `  ${sign}: ${rounded(weights[at])},`),
    '} as const',
    `export const supportIntercept = ${rounded(intercept)}`,
    '',
    '/** Probability from which words make a claim without an obstacle likely. */',
    `export const likely_min = ${likely_min}`,
    '',
  ]
  await writeFile('src/capabilities/verification/verdicts/support-weights.ts', lines.join('\n'))
}

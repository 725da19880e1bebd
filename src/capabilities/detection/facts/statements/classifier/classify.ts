import { featuresOf } from './features.ts'
import { classes, kindWeights } from './kind-weights.ts'

/** Probability from which a kind counts. */
const probability_min = 0.6
const names = classes.split(' ')

type Weight = readonly [at: number, weight: number]
let weightsOf: ReadonlyMap<string, readonly Weight[]> | undefined

/**
 * Returns the kind of rule for answers that a sentence probably gives, as the labelled sentences of
 * `bench/detection/corpus/instructions` have it: a multinomial logistic regression. Undefined for most sentences.
 */
export function classify(sentence: string): string | undefined {
  const chances = chancesOf(sentence)
  const best = chances.indexOf(Math.max(...chances))
  const kind = names[best]
  return kind === 'none' || (chances[best] ?? 0) < probability_min ? undefined : kind
}

/** Returns the probability that a sentence gives a rule for answers, of any kind. */
export function ruleChance(sentence: string): number {
  return 1 - (chancesOf(sentence)[names.indexOf('none')] ?? 0)
}

function chancesOf(sentence: string): Float64Array {
  // Read at the first sentence: not each process that knows detectors runs them.
  weightsOf ??= new Map(kindWeights.flatMap((line) => line.split('\t').map(readEntry)))
  const scores = new Float64Array(names.length)
  for (const feature of ['', ...featuresOf(sentence)])
    for (const [at, weight] of weightsOf.get(feature) ?? []) scores[at] = (scores[at] ?? 0) + weight
  const highest = Math.max(...scores)
  const powers = scores.map((score) => Math.exp(score - highest))
  const sum = powers.reduce((total, power) => total + power, 0)
  return powers.map((power) => power / sum)
}

/** Reads `feature=class:weight,class:weight`, with weights in hundredths. */
function readEntry(entry: string): readonly [feature: string, weights: readonly Weight[]] {
  const at = entry.lastIndexOf('=')
  const weights = entry.slice(at + 1).split(',')
  return [entry.slice(0, at), weights.map(readWeight)]
}

function readWeight(text: string): Weight {
  const [at, weight] = text.split(':')
  return [Number(at), Number(weight) / 100]
}

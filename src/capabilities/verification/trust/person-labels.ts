import {
  brierScore,
  type Calibration,
  calibrate,
  calibrationError,
  fitCalibration,
  fitIsotonic,
  type Label,
} from './calibration.ts'

/** A verdict of a verifier that people confirmed or corrected. */
export type PersonLabel = Label & {
  /** People who gave the majority verdict, such as `user:<id>`; at least one, each once. */
  people: readonly string[]
}

/** A person's verdict on a claim. */
export type PersonVerdict = { by: string; verdict: string }

/**
 * Combines the verdicts that people gave on a claim, newest first. Only the newest verdict of a
 * person counts. Returns the verdict of the majority and who gave it; undefined in a tie, because a
 * disputed claim says nothing about a verifier.
 */
export function combineVerdicts(
  verdicts: readonly PersonVerdict[],
): { verdict: string; people: string[] } | undefined {
  const byPerson = new Map<string, string>()
  for (const { by, verdict } of verdicts) if (!byPerson.has(by)) byPerson.set(by, verdict)
  const groups = [...Map.groupBy(byPerson, ([, verdict]) => verdict)].toSorted(
    ([, one], [, other]) => other.length - one.length,
  )
  const [first, second] = groups
  if (first === undefined || first[1].length === second?.[1].length) return undefined
  return { verdict: first[0], people: first[1].map(([by]) => by).toSorted() }
}

/** The labels of a verifier, and how well its stated confidence fits them. */
export type LabelFigures = {
  labels: number
  /** Labels that a fit uses, see `capPeople`. */
  labels_counted: number
  /** People who gave the labels, and the greatest share of one of them; null without labels. */
  people: number
  largest_share: number | null
  brier: number | null
  ece: number | null
}

/** Measures the stated confidence of a verifier by its labels. */
export function measureLabels(labels: readonly PersonLabel[]): LabelFigures {
  const counts = new Map<string, number>()
  for (const by of labels.flatMap(({ people }) => people)) counts.set(by, (counts.get(by) ?? 0) + 1)
  const most = Math.max(0, ...counts.values())
  return {
    labels: labels.length,
    labels_counted: capPeople(labels).length,
    people: counts.size,
    largest_share: labels.length === 0 ? null : most / labels.length,
    brier: brierScore(labels),
    ece: calibrationError(labels),
  }
}

/** A fitted calibration with its figures on labels that it was not fitted to. */
export type FittedCalibration = Calibration & { brier: number | null; ece: number | null }

/**
 * Fits a calibration to the labels that count, see `capPeople`; with fewer than 200 of them it is
 * the identity. Brier score and calibration error are those of ten-fold cross-validation: on its
 * own labels a fit looks better than it is.
 */
export function fitToPeople(given: readonly PersonLabel[]): FittedCalibration {
  const labels = capPeople(given)
  const fitted = fitCalibration(labels)
  const seen = fitted.calibrated ? crossCalibrate(labels) : labels
  return { ...fitted, brier: brierScore(seen), ece: calibrationError(seen) }
}

/**
 * Limits the counted labels that a person gave alone to the number of all other labels. So at most
 * half of the labels of a fit are from one person, and one person alone calibrates nothing. The
 * counted labels of that person are spaced evenly over confidence and outcome, so that they do not
 * depend on the given order. A label of several people who agree always counts.
 */
export function capPeople(labels: readonly PersonLabel[]): PersonLabel[] {
  const byPerson = Map.groupBy(labels, ({ people }) =>
    people.length === 1 ? people[0] : undefined,
  )
  for (const [person, own] of byPerson) {
    const others = labels.length - own.length
    if (person === undefined || own.length <= others) continue
    const sorted = own.toSorted(compareLabels)
    const counted = Array.from({ length: others }, (_, at) =>
      sorted.at(Math.floor(((at + 0.5) * own.length) / others)),
    ).filter((label) => label !== undefined)
    const kept = new Set(own)
    return [...labels.filter((label) => !kept.has(label)), ...counted]
  }
  return [...labels]
}

function compareLabels(one: Label, other: Label): number {
  return one.confidence - other.confidence || Number(one.isRight) - Number(other.isRight)
}

const folds = 10

/** Replaces each confidence by that of a calibration to the other nine tenths of the labels. */
function crossCalibrate(labels: readonly Label[]): Label[] {
  // Sorted labels are dealt out, so that folds are alike and do not depend on the given order.
  const sorted = labels.toSorted(compareLabels)
  return Array.from({ length: folds }, (_, fold) => {
    const steps = fitIsotonic(sorted.filter((_label, at) => at % folds !== fold))
    const calibration = { calibrated: true, labels: labels.length, steps }
    return sorted
      .filter((_label, at) => at % folds === fold)
      .map(({ confidence, isRight }) => ({
        confidence: calibrate(calibration, confidence),
        isRight,
      }))
  }).flat()
}

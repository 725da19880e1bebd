import {
  brierScore,
  type Calibration,
  calibrate,
  calibrationError,
  fitCalibration,
  fitIsotonic,
  type Label,
} from './calibration.ts'

/** A verdict of a verifier that a person confirmed or corrected. */
export type PersonLabel = Label & {
  /** Who gave the verdict, `user:<id>`. */
  created_by: string
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
  const counts = Object.values(Object.groupBy(labels, ({ created_by }) => created_by))
  const most = Math.max(0, ...counts.map((own) => own?.length ?? 0))
  return {
    labels: labels.length,
    labels_counted: capPeople(labels).length,
    people: counts.length,
    largest_share: labels.length === 0 ? null : most / labels.length,
    brier: brierScore(labels),
    ece: calibrationError(labels),
  }
}

/** A fitted calibration with its figures on labels that it was not fitted to. */
export type FittedCalibration = Calibration & { brier: number | null; ece: number | null }

/**
 * Fits a calibration to the labels that count, see `capPeople`; with fewer than 200 of them it is
 * the identity. Brier score and calibration error are those of ten-fold cross-validation: on its own
 * labels a fit looks better than it is.
 */
export function fitToPeople(given: readonly PersonLabel[]): FittedCalibration {
  const labels = capPeople(given)
  const fitted = fitCalibration(labels)
  const seen = fitted.calibrated ? crossCalibrate(labels) : labels
  return { ...fitted, brier: brierScore(seen), ece: calibrationError(seen) }
}

/**
 * Limits the counted labels of a person to the number that all others gave together. So at most half
 * of the labels of a fit are from one person, and one person alone calibrates nothing. The counted labels of that
 * person are spaced evenly over confidence and outcome, so that they do not depend on the given
 * order.
 */
export function capPeople(labels: readonly PersonLabel[]): PersonLabel[] {
  const people = Object.values(Object.groupBy(labels, ({ created_by }) => created_by))
  for (const own of people) {
    const others = labels.length - (own?.length ?? 0)
    if (own === undefined || own.length <= others) continue
    const sorted = own.toSorted(compareLabels)
    const counted = Array.from({ length: others }, (_, at) =>
      sorted.at(Math.floor(((at + 0.5) * own.length) / others)),
    ).filter((label) => label !== undefined)
    return [...labels.filter((label) => label.created_by !== own[0]?.created_by), ...counted]
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

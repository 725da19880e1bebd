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
  /** People who gave the labels, and the greatest share of one of them; null without labels. */
  people: number
  largest_share: number | null
  brier: number | null
  ece: number | null
}

/** Measures the stated confidence of a verifier by its labels. */
export function measureLabels(labels: readonly PersonLabel[]): LabelFigures {
  const byPerson = new Map<string, number>()
  for (const { created_by } of labels) {
    byPerson.set(created_by, (byPerson.get(created_by) ?? 0) + 1)
  }
  return {
    labels: labels.length,
    people: byPerson.size,
    largest_share: labels.length === 0 ? null : Math.max(...byPerson.values()) / labels.length,
    brier: brierScore(labels),
    ece: calibrationError(labels),
  }
}

/** A fitted calibration with its figures on labels that it was not fitted to. */
export type FittedCalibration = Calibration & { brier: number | null; ece: number | null }

/**
 * Fits a calibration to labels; with fewer than 200 it is the identity. Brier score and calibration
 * error are those of ten-fold cross-validation: on its own labels a fit looks better than it is.
 */
export function fitToPeople(labels: readonly Label[]): FittedCalibration {
  const fitted = fitCalibration(labels)
  const seen = fitted.calibrated ? crossCalibrate(labels) : labels
  return { ...fitted, brier: brierScore(seen), ece: calibrationError(seen) }
}

const folds = 10

/** Replaces each confidence by that of a calibration to the other nine tenths of the labels. */
function crossCalibrate(labels: readonly Label[]): Label[] {
  // Sorted labels are dealt out, so that folds are alike and do not depend on the given order.
  const sorted = labels.toSorted(
    (one, other) =>
      one.confidence - other.confidence || Number(one.isRight) - Number(other.isRight),
  )
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

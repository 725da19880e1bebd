import { clopperPearson } from '../../../kernel/statistics/rate-interval.ts'

/** Counts of a project's recent answers and reviewers, of values without a source. */
export type ValueRecord = {
  /** Values of recent answers that were compared, and those of them without a source. */
  values: number
  unexplained: number
  /** Findings of unsourced values with a majority of reviewers, and those that were right. */
  reviewed: number
  right: number
}

/** How the severity of unsourced values changes in a project, and why. */
export type ValueCalibration = { shift: 'raise' | 'lower' | 'keep'; basis: string }

/** Labels and values below which a project says nothing. */
const labels_min = 20
const values_min = 500
/** Precision that labels must show, with 95 % confidence, and one that they must exclude. */
const precision_raised = 0.8
const precision_lowered = 0.5
/** Shares of values without a source: where they are rare, one is telling. */
const rate_rare = 0.005
const rate_common = 0.2
const tail = 0.025

/** Decides by the labels of reviewers, otherwise by the rate of unexplained values; pure. */
export function calibrateValues(record: ValueRecord): ValueCalibration {
  const { values, unexplained, reviewed, right } = record
  if (reviewed >= labels_min) {
    const [low, high] = clopperPearson({ n: reviewed, k: right }, tail)
    const basis = `${right} of ${reviewed} reviewed findings were right`
    if (low >= precision_raised) return { shift: 'raise', basis }
    return { shift: high < precision_lowered ? 'lower' : 'keep', basis }
  }
  const few = `too few labels (${reviewed} of ${labels_min})`
  if (values < values_min) {
    return { shift: 'keep', basis: `${few} and values (${values} of ${values_min})` }
  }
  const rate = unexplained / values
  const basis = `${few}; ${unexplained} of ${values} values of recent answers have no source`
  if (rate <= rate_rare) return { shift: 'raise', basis }
  return { shift: rate >= rate_common ? 'lower' : 'keep', basis }
}

/** The parts of a finding that calibration reads and changes. */
type Calibrated = {
  type: string
  severity: string
  evidence: Readonly<Record<string, unknown>>
}

/** Values that are exact: their severity never becomes lower. */
const exact: ReadonlySet<unknown> = new Set(['id', 'url', 'email'])

/**
 * Applies a calibration to a finding of unsourced values. Low becomes medium only where the rest of
 * the answer is grounded and nothing speaks for a value; medium becomes low unless a value is exact.
 */
export function applyCalibration<Finding extends Calibrated>(
  finding: Finding,
  { shift, basis }: ValueCalibration,
): Finding {
  if (finding.type !== 'unsupported_value') return finding
  const severity = shiftSeverity(finding, shift)
  const evidence = { ...finding.evidence, calibration: { shift, basis } }
  return { ...finding, severity, evidence }
}

function shiftSeverity(
  { severity, evidence }: Calibrated,
  shift: ValueCalibration['shift'],
): string {
  const values = valuesOf(evidence)
  if (shift === 'lower' && severity === 'medium') {
    return values.some(({ kind, severity: own }) => own === 'medium' && exact.has(kind))
      ? severity
      : 'low'
  }
  const found = Number(evidence['values_found'])
  const others = Number(evidence['values_total']) - 1
  const isGrounded = found >= grounded_min && found >= others * grounded_share
  const isOpen = values.some(({ reason }) => reason === null)
  return shift === 'raise' && severity === 'low' && isGrounded && isOpen ? 'medium' : severity
}

const grounded_min = 2
const grounded_share = 0.8

type RatedValue = { kind?: unknown; severity?: unknown; reason?: unknown }

function valuesOf({ values }: Calibrated['evidence']): readonly RatedValue[] {
  return Array.isArray(values) ? values : []
}

import { durationMs } from '../../../kernel/duration.ts'
import { neverFires } from './burn-tiers.ts'
import {
  type BurnRate,
  type Condition,
  type MeasuredSignal,
  rateSignals,
  scoreSignals,
} from './condition-kinds.ts'

/** A fault of a rule: the path of the field, and the message. */
export type Fault = { path: readonly (string | number)[]; message: string }

/** Returns the faults of a condition: a threshold that its signal never passes. */
export function thresholdFaults(condition: Condition): Fault[] {
  if (condition.signal === 'absent' || condition.signal === 'ingest_lag') return []
  const { signal, per, op, threshold } = condition
  return measuredFaults('condition', {
    signal,
    per,
    op,
    field: 'threshold',
    threshold: Number(threshold),
  })
}

type Comparison = {
  signal: MeasuredSignal
  per: string | undefined
  op: 'gt' | 'gte' | 'lt' | 'lte'
  threshold: number
  /** Field of the threshold. */
  field: string
}

const symbols = { gt: '>', gte: '≥', lt: '<', lte: '≤' } as const

/** Returns the faults of a comparison that can never be true, and of a misplaced `per`. */
export function measuredFaults(kind: string, comparison: Comparison): Fault[] {
  const { signal, per, op, threshold, field } = comparison
  const faults: Fault[] = []
  if (per !== undefined && signal !== 'cost' && signal !== 'tokens') {
    const message = `applies to \`cost\` and \`tokens\`, got \`${signal}\``
    faults.push({ path: [kind, 'per'], message })
  }
  const [min, max] = rangeOf(signal)
  const range = max === Number.POSITIVE_INFINITY ? 'at least 0' : 'from 0 to 1'
  const isNever =
    (op === 'gt' && threshold >= max) ||
    (op === 'gte' && threshold > max) ||
    (op === 'lt' && threshold <= min) ||
    (op === 'lte' && threshold < min)
  const statement = `\`${signal} ${symbols[op]} ${threshold}\``
  if (isNever) {
    const message = `${statement} is never true: \`${signal}\` is ${range}`
    faults.push({ path: [kind, field], message })
  } else if (threshold < min || threshold > max) {
    const message = `${statement} is always true: \`${signal}\` is ${range}`
    faults.push({ path: [kind, field], message })
  }
  return faults
}

function rangeOf(signal: MeasuredSignal): [number, number] {
  const isShare = [...rateSignals, ...scoreSignals].some((share) => share === signal)
  return [0, isShare ? 1 : Number.POSITIVE_INFINITY]
}

/** Returns the faults of a burn rate: tiers that can never fire, with the arithmetic. */
export function burnFaults({ tiers, preset, objective }: BurnRate): Fault[] {
  if ((tiers === undefined) === (preset === undefined)) {
    return [{ path: ['burn_rate'], message: 'expected either `preset` or `tiers`' }]
  }
  return (tiers ?? []).flatMap((tier, at): Fault[] => {
    const path = ['burn_rate', 'tiers', at]
    const reason = neverFires(tier, objective)
    if (reason !== undefined) {
      return [{ path: [...path, 'factor'], message: `never fires: ${reason}` }]
    }
    if (durationMs(tier.short) >= durationMs(tier.long)) {
      const message = `got ${tier.short}, expected less than \`long\`, ${tier.long}`
      return [{ path: [...path, 'short'], message }]
    }
    const isTwice = tiers?.findIndex(({ factor }) => factor === tier.factor) !== at
    const message = `got ${tier.factor} twice, expected factors that differ`
    return isTwice ? [{ path: [...path, 'factor'], message }] : []
  })
}

import { type Severity, severities } from '../../../model/severity.ts'
import type { BurnRate, BurnTier } from './condition-kinds.ts'
import type { Rule } from './rule.ts'

/**
 * Pairs of windows for a budget of 30 days. Source: Google, The Site Reliability Workbook, chapter
 * 5, with the pair of 3 (1 d + 2 h) that Pyrra and Sloth add.
 */
const presets: Record<NonNullable<BurnRate['preset']>, readonly BurnTier[]> = {
  standard: [
    { factor: 14.4, long: '1h', short: '5m' },
    { factor: 6, long: '6h', short: '30m' },
    { factor: 3, long: '1d', short: '2h' },
    { factor: 1, long: '3d', short: '6h' },
  ],
}

/** A tier with its severity. */
export type EffectiveTier = BurnTier & { severity: Severity }

/** The tiers of a rule that can fire, the largest factor first, and those left out. */
export type BurnTiers = {
  tiers: readonly EffectiveTier[]
  left_out: readonly { tier: BurnTier; reason: string }[]
}

/** Returns the tiers of a burn-rate rule that are evaluated, the largest factor first. */
export function effectiveTiers(
  rule: Pick<Rule, 'burn_rate' | 'severity'>,
): readonly EffectiveTier[] {
  return rule.burn_rate === undefined ? [] : splitTiers(rule.burn_rate, rule.severity).tiers
}

/** Splits the tiers of a burn rate into those that can fire and those that never can. */
export function splitTiers(burnRate: BurnRate, severity: Severity): BurnTiers {
  const given = burnRate.tiers ?? presets[burnRate.preset ?? 'standard']
  const sorted = given.toSorted((one, other) => other.factor - one.factor)
  const reasonOf = (tier: BurnTier) => neverFires(tier, burnRate.objective)
  const tiers = sorted
    .filter((tier) => reasonOf(tier) === undefined)
    .map((tier, at) => ({ ...tier, severity: tier.severity ?? lowered(severity, at) }))
  const left_out = sorted.flatMap((tier) => {
    const reason = reasonOf(tier)
    return reason === undefined ? [] : [{ tier, reason }]
  })
  return { tiers, left_out }
}

/** Returns the arithmetic that shows why a tier can never fire; undefined if it can. */
export function neverFires({ factor }: BurnTier, objective: number): string | undefined {
  const needed = burnThreshold(factor, objective)
  if (needed < 1) return undefined
  return `${factor} × (1 − ${objective}) = ${rounded(needed)}, and a share of bad items above ${rounded(needed)} does not exist`
}

/**
 * Returns the share of bad items above which a tier fires: factor × (1 − objective), without the
 * error of binary fractions (1 − 0.95 is 0.050000000000000044).
 */
export function burnThreshold(factor: number, objective: number): number {
  return rounded(factor * rounded(1 - objective))
}

function rounded(value: number): number {
  return Number(value.toPrecision(12))
}

/** Lowers a severity by some steps, at least to `low`; `info` stays. */
function lowered(severity: Severity, steps: number): Severity {
  const at = severities.indexOf(severity)
  return severities[Math.max(at - steps, Math.min(at, 1))] ?? severity
}

/** Returns whether a severity is higher than another one. */
export function isHigher(severity: Severity, than: Severity | null): boolean {
  return than === null || severities.indexOf(severity) > severities.indexOf(than)
}

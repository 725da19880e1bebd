import type { ClaimToCheck, StoredValue } from '../contract.ts'
import type { KbResult } from './kb-verdict.ts'

/** Evidence of values that a result shows. */
const evidence_max = 5

/**
 * Says where the values of a claim come from when its wording is in no passage. If each value was
 * seen or computed, the claim is open rather than not found, with its values as evidence. A value
 * is called seen only if it was: a computed one is shown with its calculation.
 */
export function withSeenValues({ values }: ClaimToCheck, decided: KbResult): KbResult {
  if (decided.verdict !== 'not_found') return decided
  const missing = values.filter(({ verdict }) => !/^(?:seen|derived|exempt)$/.test(verdict))
  if (missing.length > 0) {
    const verb = missing.length === 1 ? 'was' : 'were'
    const note = `${decided.note}; ${listValues(missing)} ${verb} not found in what the agent saw`
    return decided.method === 'provenance' ? decided : { ...decided, note }
  }
  const found = values.filter(({ verdict }) => verdict === 'seen' || verdict === 'derived')
  if (found.length === 0) return decided
  return {
    verdict: 'unverifiable',
    confidence: 0.5,
    method: 'provenance',
    evidence: found.flatMap(({ evidence }) => evidence.slice(0, 1)).slice(0, evidence_max),
    note: `${describeValues(values)}; no passage says the rest`,
  }
}

function describeValues(values: readonly StoredValue[]): string {
  const seen = values.filter(({ verdict }) => verdict === 'seen')
  const computed = values.filter(({ verdict }) => verdict === 'derived')
  const exempt = values.filter(({ verdict }) => verdict === 'exempt')
  return [
    ...(seen.length > 0 ? [`the agent saw ${listValues(seen)}`] : []),
    ...(computed.length > 0
      ? [`${listValues(computed)} ${computed.length === 1 ? 'is' : 'are'} computed`]
      : []),
    ...(exempt.length > 0
      ? [`${listValues(exempt)} ${exempt.length === 1 ? 'was' : 'were'} not looked up`]
      : []),
  ].join('; ')
}

const listed_max = 3
const value_chars_max = 80
const formula_chars_max = 120

/** Lists values, with the calculations of computed ones. */
function listValues(values: readonly StoredValue[]): string {
  const shown = values.slice(0, listed_max).map(({ value, derivation }) => {
    const formula = derivation === null ? '' : ` (${derivation.slice(0, formula_chars_max)})`
    return `"${value.slice(0, value_chars_max)}"${formula}`
  })
  const more = values.length - shown.length
  if (more > 0) return `${shown.join(', ')} and ${more} more`
  const last = shown.at(-1) ?? ''
  return shown.length < 2 ? last : `${shown.slice(0, -1).join(', ')} and ${last}`
}

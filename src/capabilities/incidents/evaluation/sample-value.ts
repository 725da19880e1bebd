import type { Sample } from './contract.ts'

/** Returns the value and the rows of a sample, for the series of an incident. */
export function sampleValue(sample: Sample): { value: number | null; samples: number } {
  if (sample.kind === 'event') return { value: sample.matches.length, samples: 0 }
  if (sample.kind !== 'burn_rate') return { value: sample.value, samples: sample.samples }
  const long = sample.tiers[0]?.long ?? { bad: 0, total: 0 }
  return { value: long.total === 0 ? null : long.bad / long.total, samples: long.total }
}

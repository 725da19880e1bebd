import type { Sample } from './evidence-item.ts'

/**
 * Returns one sample for each case: the chance that k repeats of it all pass, estimated without bias
 * from its n ≥ k repeats with c passes: C(c, k) / C(n, k) (Chen et al. 2021, for pass@k; Yao et al.
 * 2024, for pass^k). Undefined when a case has fewer repeats.
 */
export function passPowerSamples(samples: readonly Sample[], k: number): Sample[] | undefined {
  const cases = [...Map.groupBy(samples, ({ case_id, id }) => case_id ?? id).values()]
  if (cases.some((repeats) => repeats.length < k)) return undefined
  return cases.flatMap((repeats) => {
    const [first] = repeats
    if (first === undefined) return []
    const passed = repeats.filter(({ value }) => value === 1).length
    return [{ ...first, value: passPower(passed, repeats.length, k) }]
  })
}

function passPower(passed: number, n: number, k: number): number {
  let chance = 1
  for (let at = 0; at < k; at += 1) chance *= Math.max(0, passed - at) / (n - at)
  return chance
}

import type { MetricName } from '../policy/metrics.ts'

/** A task or a case of an eval run as evidence, with its values of metrics. */
export type EvidenceItem = {
  /** Names the item in the evidence. Items with one id count once. */
  id: string
  /** User, else conversation, else the item itself: samples of a cluster are not independent. */
  cluster: string
  /** Name of the task or case, for `worst_group`. */
  group: string | null
  /** Id of the case of an eval run; null for tasks. */
  case_id: string | null
  /** Rates have 0 or 1. Null is a broken number. */
  values: { readonly [metric in MetricName]?: number | null }
}

/** A value of a metric. */
export type Sample = Omit<EvidenceItem, 'values'> & { value: number }

/** The samples of a metric, each id once. `isBroken`: a value is not a number of its metric. */
export type Samples = { samples: Sample[]; isBroken: boolean }

/**
 * Returns the samples of a metric in the order of their ids, so that sums are the same each time.
 */
export function samplesOf(
  items: readonly EvidenceItem[],
  metric: MetricName,
  isRate: boolean,
): Samples {
  const byId = new Map<string, Sample>()
  let isBroken = false
  for (const { values, ...item } of items) {
    const value = values[metric]
    if (value === undefined) continue
    const isUsable = isRate ? value === 0 || value === 1 : Number.isFinite(value)
    if (!isUsable || value === null) isBroken = true
    else if (!byId.has(item.id)) byId.set(item.id, { ...item, value })
  }
  const samples = [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : Number(a.id > b.id)))
  return { samples, isBroken }
}

/** The sum of the values of a cluster. */
export type Summed = { cluster: string; n: number; sum: number }

/** Returns the clusters of samples with their sums, in the order of their first samples. */
export function sumByCluster(samples: readonly Pick<Sample, 'cluster' | 'value'>[]): Summed[] {
  const clusters = new Map<string, Summed>()
  for (const { cluster, value } of samples) {
    const known = clusters.get(cluster) ?? { cluster, n: 0, sum: 0 }
    known.n += 1
    known.sum += value
    clusters.set(cluster, known)
  }
  return [...clusters.values()]
}

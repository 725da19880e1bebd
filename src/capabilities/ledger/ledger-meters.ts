import type { IngestPath } from '../../model/ingest-records.ts'
import type { Metrics } from '../../platform/telemetry/index.ts'

/** The fate of an item. The edge reports the first four, the worker `stored` and `rejected`. */
export type LedgerOutcome = 'accepted' | 'rejected' | 'lost' | 'masked' | 'stored'

/** Items of one project and path with the same fate. `reason` may be empty. */
type LedgerCount = {
  project_id: string
  path: IngestPath
  outcome: LedgerOutcome
  reason: string
}

/** Counts items as `looptrace_ledger_items_total`. */
export type LedgerMeters = { count(labels: LedgerCount, items: number): void }

/**
 * Maximum projects with a label of their own; later ones share the label `other`. Each has about five
 * series. `GET /api/v2/observability/ledger` counts the items of every project.
 */
const projects_max = 20
/** Maximum reasons with a label of their own. Clients cannot create reasons. */
const reasons_max = 100

const madeFor = new WeakMap<Metrics, LedgerMeters>()

/**
 * Returns the ledger's metric, which edge and worker of one process share. Its labels are bounded,
 * so that a service with many projects does not overload Prometheus.
 */
export function ledgerMeters(metrics: Metrics): LedgerMeters {
  const made = madeFor.get(metrics) ?? makeMeters(metrics)
  madeFor.set(metrics, made)
  return made
}

function makeMeters(metrics: Metrics): LedgerMeters {
  const items_total = metrics.counter({
    name: 'looptrace_ledger_items_total',
    help: 'Items that clients sent, by project, path and outcome.',
    labels: ['project', 'path', 'outcome', 'reason'],
  })
  const projects = new Set<string>()
  const reasons = new Set<string>()
  return {
    count: ({ project_id, path, outcome, reason }, items) => {
      if (items <= 0) return
      const project = bounded(projects, project_id, projects_max)
      items_total.inc(
        { project, path, outcome, reason: bounded(reasons, reason, reasons_max) },
        items,
      )
    },
  }
}

function bounded(known: Set<string>, value: string, count_max: number): string {
  if (known.has(value)) return value
  if (known.size >= count_max) return 'other'
  known.add(value)
  return value
}

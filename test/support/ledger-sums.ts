import { eventually } from './eventually.ts'
import { scrape } from './metrics.ts'
import type { Reader } from './roll-ups.ts'

export type LedgerPath = 'proxy' | 'otlp' | 'api'

/** The ledger's sums of a path. */
export type LedgerSums = Record<
  'requests' | 'accepted' | 'stored' | 'rejected' | 'pending' | 'lost',
  number
> & {
  rejected_by_reason: { reason: string; items: number }[]
  lost_by_reason: { reason: string; items: number }[]
}

/** Requests received at or after `from_ms` and before `to_ms`, in milliseconds since 1970. */
export type LedgerWindow = { from_ms: number; to_ms: number }

/** Reads GET /api/v2/observability/ledger. */
export async function ledgerSums(
  { api_url, project_key }: Reader,
  { from_ms, to_ms }: LedgerWindow,
): Promise<Record<LedgerPath, LedgerSums>> {
  const iso = (ms: number) => new Date(ms).toISOString()
  const url = `${api_url}/api/v2/observability/ledger?from=${iso(from_ms)}&to=${iso(to_ms)}`
  const answer = await fetch(url, { headers: { 'x-api-key': project_key } })
  if (answer.status !== 200) throw new Error(`the ledger: ${await answer.text()}`)
  const { paths } = (await answer.json()) as { paths: (LedgerSums & { path: LedgerPath })[] }
  const of = (path: LedgerPath) => {
    const found = paths.find((one) => one.path === path)
    if (found === undefined) throw new Error(`the ledger has no path ${path}`)
    return found
  }
  return { proxy: of('proxy'), otlp: of('otlp'), api: of('api') }
}

/** Management ports of the edges and of the worker. */
export type IngestProcesses = { edges: readonly string[]; worker: string }

/** Bytes or records that an edge holds in memory or on disk and has not given to the queue. */
const heldAtEdge = [
  'looptrace_proxy_records_pending',
  'looptrace_enqueue_inflight_bytes',
  'looptrace_ledger_entries_pending',
]
const pending = { state: 'pending' }

/**
 * Waits until everything that arrived is settled. Edges are asked before the queue: records that
 * left an edge are in the queue.
 */
export async function untilIngestQuiet(
  { edges, worker }: IngestProcesses,
  { timeout_ms = 90_000 } = {},
): Promise<void> {
  await eventually(
    'nothing waits at the edges or in the queue',
    async () => {
      for (const edge of edges) {
        const value = await scrape(edge)
        if (heldAtEdge.some((name) => value(name) !== 0)) return false
        if (value('looptrace_spool_messages', pending) !== 0) return false
      }
      const queues = await Promise.all([...edges, worker].map((one) => scrape(one)))
      return queues.every((value) => value('looptrace_queue_messages', pending) === 0)
    },
    { timeout_ms, interval_ms: 50 },
  )
}

import { eventually } from './eventually.ts'
import { type MetricValues, scrape } from './metrics.ts'

/** Management ports of the processes that a record passes on its way. */
export type RecordingPath = { proxy: string; worker: string }

/** What the proxy says became of the records of its calls since it started. */
export type RecordCounts = {
  published: number
  lost: number
  pending: number
  /** Messages that went to the disk spool, and those that are in it. */
  spooled: number
  in_spool: number
}

const pending = { state: 'pending' }

/** Waits until every record is out of the proxy and acknowledged by the worker. */
export async function untilAllRecorded(
  path: RecordingPath,
  { timeout_ms = 60_000 } = {},
): Promise<RecordCounts> {
  return eventually(
    'every record is acknowledged',
    async () => {
      const proxy = await scrape(path.proxy)
      const worker = await scrape(path.worker)
      const counts = recordCountsIn(proxy)
      // A process that has no connection says what it saw last: so both are asked.
      const waiting = [proxy, worker].map((of) => of('looptrace_queue_messages', pending))
      const isThrough = [counts.pending, counts.in_spool, ...waiting].every((left) => left === 0)
      return isThrough && counts
    },
    { timeout_ms, interval_ms: 50 },
  )
}

/** Reads what the proxy has counted. */
export async function recordCounts(management_url: string): Promise<RecordCounts> {
  return recordCountsIn(await scrape(management_url))
}

function recordCountsIn(value: MetricValues): RecordCounts {
  return {
    published: value('looptrace_proxy_records_total', { result: 'published' }),
    lost: value('looptrace_proxy_records_total', { result: 'lost' }),
    pending: value('looptrace_proxy_records_pending'),
    spooled: value('looptrace_spool_messages_total', { moved: 'in' }),
    in_spool: value('looptrace_spool_messages', pending),
  }
}

import { isStorableInstant } from '../../../../kernel/time.ts'
import type { OtlpDataPoint, OtlpLogRecord, OtlpResource } from '../contract.ts'
import { emptyLogRecord } from '../decode/items.ts'
import { agentOf } from './coding-agents.ts'
import { sessionIn } from './log-reading.ts'
import { sessionTraceId } from './session-ids.ts'

/** The project and the time of a request, in nanoseconds since 1970. */
type PointOrigin = { project_id: string; received_at: bigint }

const temporalities = ['', 'delta', 'cumulative']

/**
 * Returns a data point of a coding agent as a log record with the name of its metric, in the trace
 * of its session, or without a session in that of its day; undefined for the metrics of other programs. The value stays a signal of its own:
 * costs and tokens of calls are counted from spans and log records.
 */
export function recordOfPoint(
  point: OtlpDataPoint,
  resource: OtlpResource,
  { project_id, received_at }: PointOrigin,
): OtlpLogRecord | undefined {
  const { metric, value, count, attributes } = point
  const agent = agentOf(metric.name)
  if (agent === undefined) return undefined
  const record = emptyLogRecord()
  record.event_name = metric.name
  record.time = isStorableInstant(point.time) ? point.time : point.start_time
  const session = sessionIn(attributes, resource)
  const day = isStorableInstant(record.time) ? record.time : received_at
  const place = session === '' ? { session, prompt: dayOf(day) } : { session, prompt: '' }
  record.trace_id = sessionTraceId({ project_id, client: agent.prefix, ...place })
  const facts = {
    'metric.value': value,
    'metric.count': count,
    'metric.unit': metric.unit,
    'metric.temporality': temporalities[metric.temporality] ?? '',
    'metric.start_time_ns': point.start_time === 0n ? '' : `${point.start_time}`,
  }
  const { keys, values } = record.attributes
  for (const [key, fact] of Object.entries(facts)) {
    if (fact === null || fact === '') continue
    keys.push(key)
    values.push(fact)
  }
  keys.push(...attributes.keys)
  values.push(...attributes.values)
  return record
}

/** Names the day (UTC) of points without a session, so that their trace ends. */
function dayOf(time: bigint): string {
  return `metrics of ${new Date(Number(time / 1_000_000n)).toISOString().slice(0, 10)}`
}

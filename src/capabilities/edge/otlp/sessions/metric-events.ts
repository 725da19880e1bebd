import { isStorableInstant } from '../../../../kernel/time.ts'
import type { OtlpAttributes, OtlpDataPoint, OtlpLogRecord, OtlpResource } from '../contract.ts'
import { emptyLogRecord } from '../decode/items.ts'
import { stringOf } from '../mapping/value-text.ts'
import { agentOf } from './coding-agents.ts'
import { sessionTraceId } from './session-ids.ts'

const temporalities = ['', 'delta', 'cumulative']

/**
 * Returns a data point of a coding agent as a log record with the name of its metric, in the trace
 * of its session; undefined for the metrics of other programs. The value stays a signal of its own:
 * costs and tokens of calls are counted from spans and log records.
 */
export function recordOfPoint(
  point: OtlpDataPoint,
  resource: OtlpResource,
  project_id: string,
): OtlpLogRecord | undefined {
  const { metric, value, count, attributes } = point
  const agent = agentOf(metric.name)
  if (agent === undefined) return undefined
  const record = emptyLogRecord()
  const session = textIn(attributes, 'session.id') || textIn(resource.attributes, 'session.id')
  record.trace_id = sessionTraceId({ project_id, client: agent.prefix, session, prompt: '' })
  record.event_name = metric.name
  record.time = isStorableInstant(point.time) ? point.time : point.start_time
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

function textIn({ keys, values }: OtlpAttributes, key: string): string {
  return stringOf(values[keys.indexOf(key)])
}

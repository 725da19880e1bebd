import type { TraceDraft } from '../../src/model/ingest-records.ts'
import type { Observation } from '../../src/model/observation.ts'
import { compareText, type PlainRecord } from './query-evaluation.ts'
import { filtersOver, groupsOver, ordersOver } from './query-filters.ts'
import { plainObservation, queryStart } from './query-records.ts'
import { traceOf } from './records.ts'

/** Records of some of the traces; most of their texts are unknown. */
export function traceRecords(observations: readonly Observation[]): TraceDraft[] {
  const ids = [...new Set(observations.map(({ trace_id }) => trace_id))]
  return ids
    .filter((_, at) => at % 3 === 0)
    .map((trace_id, at) =>
      traceOf({
        project_id: observations[0]?.project_id ?? '',
        trace_id,
        time: queryStart,
        name: at % 2 === 0 ? '' : 'named',
        user_id: at % 3 === 0 ? 'zoë' : '',
        release: at % 4 === 0 ? '1.5.0' : '',
        metadata: at % 2 === 0 ? ['tenant', at % 4 === 0 ? 'acme' : ''] : [],
      }),
    )
}

const latest = ['task_id', 'user_id', 'environment', 'release'] as const

/** Computes traces from their observations, as answers show them. */
export function plainTraces(
  observations: readonly Observation[],
  records: readonly TraceDraft[],
): PlainRecord[] {
  const byTrace = Map.groupBy(observations, ({ trace_id }) => trace_id)
  return [...byTrace].map(([trace_id, given]) => {
    const record = records.find((each) => each.trace_id === trace_id)
    const inOrder = given.toSorted(inTime)
    const root = inOrder.find((each) => each.parent_observation_id === '') ?? inOrder[0]
    const known = (name: (typeof latest)[number]) =>
      record?.[name] || inOrder.findLast((each) => each[name] !== '')?.[name] || null
    const [key = '', value = ''] = (record?.metadata ?? []) as string[]
    const errors = given.filter(({ status }) => status === 'error').length
    return {
      trace_id,
      name: record?.name || root?.name || null,
      start_time: plainObservation(inOrder[0] as Observation)['start_time'],
      observations: given.length,
      ...{ errors, has_error: errors > 0 },
      calls: given.filter(({ type }) => type === 'generation').length,
      ...Object.fromEntries(latest.map((name) => [name, known(name)])),
      metadata: key === '' ? {} : { [key]: value },
      models: modelsOf(given),
    }
  })
}

function inTime(a: Observation, b: Observation): number {
  if (a.start_time !== b.start_time) return a.start_time < b.start_time ? -1 : 1
  return compareText(a.observation_id, b.observation_id)
}

function modelsOf(given: readonly Observation[]): string[] {
  const called = given.filter(({ type, model }) => type === 'generation' && model !== '')
  return [...new Set(called.map(({ model }) => model))].toSorted(compareText)
}

const texts = ['name', 'user_id', 'task_id', 'environment', 'release', 'metadata.tenant']
const compared = ['ana', 'b', 'zoë', 'zz', 'prod', 'task-2', 'acme', '1.5.0']
const where = filtersOver('traces', {
  ...Object.fromEntries(texts.map((name) => [name, compared])),
  models: ['m-1', 'm-3'],
  observations: [1, 4, 6],
  has_error: [true, false],
})

/** Arbitrary queries about traces, in JSON. */
export const traceQueries = {
  select: ['trace_id', 'observations', 'errors', 'models', ...texts],
  where,
  order: ordersOver([...texts, 'start_time', 'observations', 'trace_id']),
  groups: groupsOver(where, {
    groups: [...texts, 'has_error'],
    counted: [...texts, 'trace_id'],
    measured: ['observations', 'start_time'],
  }),
}

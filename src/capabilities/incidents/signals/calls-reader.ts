import type { Columnar } from '../../../platform/columnar/index.ts'
import { callRows } from './call-rows.ts'
import { type Aggregate, groupedStatement, Parameters, readGroups } from './grouped-statement.ts'
import type { LateCheck } from './late-check.ts'
import { mergeWindows, type ReadRequest, type SourceReader, windowsOf } from './reading.ts'

/** Opens the source `calls`: observations, each in its latest version, when they count. */
export function callsReader(
  columnar: Pick<Columnar, 'ofProject'>,
  findsLate: LateCheck,
): SourceReader {
  return async (request) => {
    const parameters = new Parameters()
    const { timing } = request
    const ranges = mergeWindows(windowsOf(request))
    const hasLate = await findsLate({ ...request, ranges })
    const asked = { ranges, timing, hasLate, readsTags: readsTags(request) }
    const rows = callRows(asked, parameters)
    const text = groupedStatement(request, { parameters, rows, aggregate })
    return readGroups(columnar, request, { text, params: parameters.values })
  }
}

/** Returns whether a request filters or groups by tags. */
export function readsTags({ filters }: Pick<ReadRequest, 'filters'>): boolean {
  return filters.some(({ selector, group_by }) => {
    return selector.tag !== undefined || group_by.includes('tag')
  })
}

const aggregate: Aggregate = (amount, when) => {
  switch (amount) {
    case 'calls':
      return countOf(`countIf(is_call AND ${when})`)
    case 'errors':
      return countOf(`countIf(is_error AND ${when})`)
    case 'cost':
    case 'tokens':
      return `(sumIf(${amount}, ${when}), 0)`
    case 'task_cost':
      return `(sumIf(cost, task_id != '' AND ${when}), 0)`
    case 'task_tokens':
      return `(sumIf(tokens, task_id != '' AND ${when}), 0)`
    case 'call_tasks':
      return countOf(`uniqExactIf(task_id, is_call AND task_id != '' AND ${when})`)
    case 'latency':
      return nearestRank(`groupArrayIf(latency, is_call AND ${when})`)
    case 'ttft':
      return nearestRank(
        `groupArrayIf(assumeNotNull(ttft), is_call AND isNotNull(ttft) AND ${when})`,
      )
    default:
      return countOf(`countIf(${when})`)
  }
}

/** A cell whose value is a count of rows. */
export function countOf(count: string): string {
  return `(${count}, ${count})`
}

/** The 95th percentile by nearest rank: the value at ⌈0.95 n⌉, in integers. */
function nearestRank(values: string): string {
  const count = `length(${values})`
  const at = `arraySort(${values})[intDiv(95 * ${count} + 99, 100)]`
  return `(if(${count} = 0, NULL, ${at}), ${count})`
}

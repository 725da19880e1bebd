import { durationMs } from '../../../kernel/duration.ts'
import type { FindingKind } from '../../../model/finding-kind.ts'
import { parseProjectId } from '../../../model/project-id.ts'
import type { Columnar } from '../../../platform/columnar/index.ts'
import type { Logger } from '../../../platform/telemetry/index.ts'
import { groupsOfTask } from '../evaluation/event-match.ts'
import type { Evidence } from '../incident-view.ts'
import type { Examples, ExamplesRequest } from '../ports.ts'
import { effectiveTiers } from '../rules/burn-tiers.ts'
import type { Signal } from '../rules/condition-kinds.ts'
import { groupKey } from '../rules/groups.ts'
import type { Rule } from '../rules/rule.ts'
import { readsMinutes } from './batches.ts'
import { callRows } from './call-rows.ts'
import { Parameters, rowsOfGroup } from './grouped-statement.ts'
import { defaultTiming, lateTiming } from './late-timing.ts'
import { maxMeasurementTimeMs } from './measurement-error.ts'
import type { TaskStore } from './tasks-reader.ts'

type ExampleStores = {
  columnar: Pick<Columnar, 'ofProject'>
  relational: TaskStore
  logger: Logger
}

/** Examples of one incident. */
const examples_max = 5

/** Only the end of a long window is read. */
const window_ms_max = 3_600_000

/** Findings of a window among which those of the group are looked for. */
const findings_max = 500

/**
 * Opens the examples of incidents: calls for signals of calls, findings for those of tasks. Without
 * its store an incident has no examples; the failure is logged.
 */
export function openExamples({ columnar, relational, logger }: ExampleStores): Examples {
  const read = async (asked: ExamplesRequest): Promise<Evidence[]> => {
    const signal = signalOf(asked.rule)
    if (signal === undefined) return []
    const call = callExamples[signal]
    if (call !== undefined) return readCalls(columnar, asked, call)
    const kind = kindOfSignal[signal]
    return kind === undefined ? [] : readFindings(relational, asked, kind)
  }
  return (asked) =>
    read(asked).catch((error: unknown) => {
      asked.signal?.throwIfAborted()
      const { project_id } = asked
      logger.warn({ err: error, project_id }, 'reading the examples of an incident failed')
      return []
    })
}

type CallExample = { value: string; when: string; unit: string }

/** The calls that raise a signal: the largest values first. */
const callExamples: { readonly [name in Signal]?: CallExample } = {
  error_rate: { value: 'toFloat64(t)', when: 'is_error', unit: '' },
  latency_p95: { value: 'toFloat64(latency)', when: 'is_call', unit: 'ms' },
  ttft_p95: { value: 'toFloat64(ttft)', when: 'is_call AND isNotNull(ttft)', unit: 'ms' },
  cost: { value: 'cost', when: 'is_call AND cost > 0', unit: 'US dollars' },
  tokens: { value: 'tokens', when: 'is_call AND tokens > 0', unit: 'tokens' },
}

const kindOfSignal: { readonly [name in Signal]?: FindingKind } = {
  loop_rate: 'loop',
  loop_count: 'loop',
  failure_rate: 'failure',
  failure_count: 'failure',
  context_failure_count: 'context',
  context_health: 'context',
  trust_score: 'claim',
  unsupported_claim_rate: 'claim',
}

function signalOf({ condition, burn_rate, baseline }: Rule): Signal | undefined {
  return condition?.signal ?? burn_rate?.signal ?? baseline?.signal
}

/** Returns the newest part of the window that was measured when the incident opened. */
function windowOf({ rule, at_ms }: ExamplesRequest): { from_ms: number; to_ms: number } {
  const { condition, burn_rate } = rule
  const shortest = burn_rate && effectiveTiers(rule).at(0)?.short
  const given = condition !== undefined && 'window' in condition ? condition.window : shortest
  const length_ms = given === undefined ? window_ms_max : durationMs(given)
  return { from_ms: at_ms - Math.min(length_ms, window_ms_max), to_ms: at_ms }
}

type CallRow = { trace_id: string; task_id: string; at_ms: number; value: number }

async function readCalls(
  columnar: Pick<Columnar, 'ofProject'>,
  asked: ExamplesRequest,
  { value, when, unit }: CallExample,
): Promise<Evidence[]> {
  const { project_id, rule, group, signal } = asked
  const parameters = new Parameters()
  const readsTags = rule.selector.tag !== undefined || group.tag !== undefined
  const given = {
    ranges: [windowOf(asked)],
    readsTags,
    columns: ['trace_id'],
    timing: readsMinutes(rule) ? defaultTiming : lateTiming(rule),
  }
  const text = `SELECT toString(trace_id) AS trace_id, task_id, toFloat64(t) AS at_ms, ${value} AS value
FROM (${callRows(given, parameters)})
WHERE ${when} AND ${rowsOfGroup(rule.selector, group, parameters)}
ORDER BY value DESC, trace_id LIMIT 1 BY trace_id LIMIT ${examples_max}`
  const ofProject = columnar.ofProject(parseProjectId(project_id))
  const { rows } = await ofProject.read<CallRow>(text, parameters.values, {
    timeout_ms: maxMeasurementTimeMs,
    settings: { max_memory_usage: memory_bytes_max, max_threads: 2 },
    ...(signal && { signal }),
  })
  return rows.map(({ trace_id, task_id, at_ms, value: found }) => ({
    kind: 'trace',
    id: trace_id,
    trace_id,
    ...(task_id !== '' && { task_id }),
    summary: unit === '' ? 'A call with an error.' : `A call with ${rounded(found)} ${unit}.`,
    ...(unit !== '' && { value: Number(found) }),
    at: new Date(Number(at_ms)).toISOString(),
  }))
}

const memory_bytes_max = 268_435_456

function rounded(value: number): string {
  return String(Number(Number(value).toPrecision(6)))
}

async function readFindings(
  { db }: TaskStore,
  asked: ExamplesRequest,
  kind: FindingKind,
): Promise<Evidence[]> {
  const { project_id, rule, group } = asked
  const { from_ms, to_ms } = windowOf(asked)
  const rows = await db
    .selectFrom('findings')
    .innerJoin('tasks', (join) =>
      join
        .onRef('tasks.project_id', '=', 'findings.project_id')
        .onRef('tasks.task_id', '=', 'findings.task_id'),
    )
    .select(['finding_id', 'findings.task_id', 'type', 'summary', 'first_detected_at'])
    .select(['name', 'environment', 'release', 'models', 'providers'])
    .where('findings.project_id', '=', project_id)
    .where('findings.state', '<>', 'withdrawn')
    .where('kind', '=', kind)
    .where('first_detected_at', '>=', new Date(from_ms).toISOString())
    .where('first_detected_at', '<', new Date(to_ms).toISOString())
    .orderBy('first_detected_at', 'desc')
    .limit(findings_max)
    .execute()
  const key = groupKey(group)
  const ofGroup = rows.filter((row) => groupsOfTask(rule, row).some((one) => groupKey(one) === key))
  return ofGroup.slice(0, examples_max).map((row) => ({
    kind: 'finding',
    id: row.finding_id,
    task_id: row.task_id,
    type: row.type,
    summary: row.summary,
    at: row.first_detected_at,
  }))
}

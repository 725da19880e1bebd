import { scenarioEnvironment } from '../../../model/reserved-environment.ts'
import { stalledAfterMs } from '../../../model/task-rules.ts'
import {
  type DetectionTables,
  type Kysely,
  type Relational,
  readBounded,
  sql,
  type TaskTables,
} from '../../../platform/relational/index.ts'
import { contextWeights, severityShares } from '../../conversations/index.ts'
import type { Group } from '../rules/groups.ts'
import { maxGroupValueChars } from '../rules/groups.ts'
import { readsScenario } from '../rules/reads-scenario.ts'
import { type Dimension, dimensions } from '../rules/rule.ts'
import { likePattern } from './like-pattern.ts'
import { maxMeasurementTimeMs } from './measurement-error.ts'
import {
  type Amount,
  maxGroupsRead,
  maxSeriesRows,
  mergeWindows,
  type ReadRequest,
  type ReadResult,
  type SourceReader,
  type Window,
  windowsOf,
} from './reading.ts'

type Tables = TaskTables & DetectionTables
type Sql = ReturnType<typeof sql>

/** The relational store of tasks and findings. */
export type TaskStore = Pick<Relational<Tables>, 'pool' | 'scoped'> & { db: Kysely<Tables> }

/**
 * Opens the source `tasks`: each task at its end. A task that was not ended counts when it has been
 * idle for `stalledAfterMs`, after which the product calls it stalled.
 */
export function tasksReader(store: TaskStore): SourceReader {
  return (request) => readGroups(store, request, endedTasks(request))
}

/** Opens the source `findings`: findings that are not withdrawn, by their first detection. */
export function findingsReader(store: TaskStore): SourceReader {
  return (request) => readGroups(store, request, detectedFindings(request))
}

/**
 * Opens the source `verifications`: the newest verification of each answer, when it ended. A run
 * without a task has an environment only.
 */
export function verificationsReader(store: TaskStore): SourceReader {
  return (request) => readGroups(store, request, verifiedAnswers(request))
}

/**
 * Opens the source `feedback`: votes of end users that count, by their time. Tasks of onboarding are
 * left out.
 */
export function feedbackReader(store: TaskStore): SourceReader {
  return (request) => readGroups(store, request, countedVotes(request))
}

/** Values of the dimensions of a task, each as a list. A task has no tags. */
const dimensionLists = sql`
  case when tasks.models = '{}' then array[''] else tasks.models end as model,
  case when tasks.providers = '{}' then array[''] else tasks.providers end as provider,
  array[coalesce(tasks.environment, '')] as environment,
  array[tasks.name] as task_name,
  array[coalesce(tasks.release, '')] as release,
  array[''] as tag`

function endedTasks(request: ReadRequest): Sql {
  const { project_id } = request
  const ranges = mergeWindows(windowsOf(request))
  const idle = sql`make_interval(secs => ${stalledAfterMs / 1_000}::float8)`
  const ended = ranges.map((range) => within(sql`tasks.ended_at`, range))
  const idled = ranges.map(({ from_ms, to_ms }) => {
    const shifted = { from_ms: from_ms - stalledAfterMs, to_ms: to_ms - stalledAfterMs }
    return sql`tasks.ended_at is null and ${within(sql`tasks.last_activity_at`, shifted)}`
  })
  return sql`select coalesce(tasks.ended_at, tasks.last_activity_at + ${idle}) as t,
  ${dimensionLists},
  tasks.state = 'failed' or ${hasFinding(sql`f.kind = 'failure' and f.state = 'open'`)} as failed,
  ${hasFinding(sql`f.kind = 'loop'`)} as looped,
  ${healthScore} as health
  from tasks where tasks.project_id = ${project_id}
    and (${sql.join([...ended, ...idled], sql` or `)})`
}

/** Whether the task has a finding above info severity that is not withdrawn. */
function hasFinding(which: Sql): Sql {
  return sql`exists (select from findings f
    where f.project_id = tasks.project_id and f.task_id = tasks.task_id
      and f.state <> 'withdrawn' and f.severity <> 'info' and ${which})`
}

/** The score of `contextScore`, in SQL; null for a task with fewer than two calls. */
const healthScore = sql`case when tasks.calls >= 2 then (
    select greatest(0, coalesce(exp(sum(ln(1 - f.confidence
        * coalesce((${JSON.stringify(contextWeights)}::jsonb ->> f.type)::float8, 0)
        * coalesce((${JSON.stringify(severityShares)}::jsonb ->> f.severity)::float8, 0)))), 1)
      - coalesce(max(least(0.2, greatest(0, (f.evidence ->> 'fill')::float8 - 0.8)))
        filter (where f.type = 'context_overflow'
          and jsonb_typeof(f.evidence -> 'fill') = 'number'), 0))
    from findings f
    where f.project_id = tasks.project_id and f.task_id = tasks.task_id
      and f.kind = 'context' and f.state <> 'withdrawn') end`

function detectedFindings(request: ReadRequest): Sql {
  const { project_id } = request
  const ranges = mergeWindows(windowsOf(request))
  const detected = ranges.map((range) => within(sql`findings.first_detected_at`, range))
  return sql`select findings.first_detected_at as t, findings.kind, ${dimensionLists}
  from findings join tasks
    on tasks.project_id = findings.project_id and tasks.task_id = findings.task_id
  where findings.project_id = ${project_id} and findings.state <> 'withdrawn'
    and (${sql.join(detected, sql` or `)})`
}

function verifiedAnswers(request: ReadRequest): Sql {
  const { project_id } = request
  const ended = mergeWindows(windowsOf(request)).map((range) => within(sql`runs.ended_at`, range))
  return sql`select runs.ended_at as t, runs.trust_score as trust, ${dimensionLists},
  ${claimsWith('supported')} + ${claimsWith('contradicted')} + ${claimsWith('not_found')} as decided,
  ${claimsWith('contradicted')} + ${claimsWith('not_found')} as wrong
  from verification_runs as runs left join lateral (
    select coalesce(task.models, '{}') as models, coalesce(task.providers, '{}') as providers,
      coalesce(task.environment, runs.environment) as environment,
      coalesce(task.name, '') as name, task.release
    from (select 1) as one left join tasks as task
      on task.project_id = runs.project_id and task.task_id = runs.task_id) as tasks on true
  where runs.project_id = ${project_id} and runs.state = 'verified'
    and (${sql.join(ended, sql` or `)})
    and not exists (select from verification_runs as newer
      where newer.project_id = runs.project_id and newer.trace_id = runs.trace_id
        and newer.state = 'verified' and newer.id > runs.id)`
}

function countedVotes(request: ReadRequest): Sql {
  const { project_id } = request
  const given = mergeWindows(windowsOf(request)).map((range) => within(sql`vote.at`, range))
  return sql`select vote.at as t, vote.sentiment = 'negative' as negative, ${dimensionLists}
  from feedback as vote join tasks
    on tasks.project_id = vote.project_id and tasks.task_id = vote.task_id
  where vote.project_id = ${project_id} and vote.counts and vote.source = 'end_user'
    and (${sql.join(given, sql` or `)})`
}

function claimsWith(verdict: string): Sql {
  return sql`coalesce((runs.counts ->> ${verdict})::int, 0)`
}

function within(time: Sql, { from_ms, to_ms }: Window): Sql {
  const [from, to] = [new Date(from_ms).toISOString(), new Date(to_ms).toISOString()]
  return sql`(${time} >= ${from}::timestamptz and ${time} < ${to}::timestamptz)`
}

type GroupRow = { g: string[]; b: number; v: (number | null)[]; n: number[]; total: number }

async function readGroups(
  { db, pool, scoped }: TaskStore,
  request: ReadRequest,
  rows: Sql,
): Promise<ReadResult> {
  const { sql: text, parameters: params } = groupedStatement(request, rows).compile(db)
  const found = (await readBounded(scoped, {
    text,
    params,
    name: 'looptrace incidents',
    time_ms_max: maxMeasurementTimeMs,
    signal: request.signal,
    cancel_through: pool,
  })) as GroupRow[]
  return {
    groups: found.map(({ g, b, v, n }) => ({
      stretch: b,
      group: Object.fromEntries(
        request.filters[0].group_by.map((one, at) => [one, g[at] ?? '']),
      ) as Group,
      values: v.map((value, at) => ({ value, count: n[at] ?? 0 })),
    })),
    total: found[0]?.total ?? 0,
  }
}

/** Completes a statement over rows with a time `t`; see `groupedStatement` of ClickHouse. */
function groupedStatement(request: ReadRequest, rows: Sql): Sql {
  const { cells, only, stretches } = request
  const [{ selector, group_by }] = request.filters
  const filters = dimensions.flatMap((one) => {
    const globs = group_by.includes(one) ? undefined : selector[one]
    return globs === undefined
      ? []
      : [
          sql`exists (select from unnest(r.${sql.ref(one)}) as v where v like any(${patterns(globs)}))`,
        ]
  })
  const joins = group_by.map((one) => groupValues(one, selector[one]))
  const key = group_by.map((one) => sql`${sql.ref(`d_${one}`)}.v`)
  const keys = only?.map((group) => sql`(${sql.join(group_by.map((one) => group[one] ?? ''))})`)
  const onlyThese = keys === undefined ? [] : [sql`(${sql.join(key)}) in (${sql.join(keys)})`]
  const withoutScenario = readsScenario(selector)
    ? []
    : [sql`not ${scenarioEnvironment} = any(r.environment)`]
  const where = [...filters, ...withoutScenario, ...onlyThese, sql`true`]
  const aggregates = cells.map(({ amount, window }) =>
    aggregateOf(amount, within(sql`r.t`, window)),
  )
  const stretch = stretchOf(stretches)
  const limit = stretches === undefined ? maxGroupsRead : maxSeriesRows
  return sql`select g, b, v, n, (count(*) over ())::int as total from (
  select array[${sql.join(key)}]::text[] as g, ${stretch} as b,
    array[${sql.join(aggregates.map(({ value }) => value))}]::float8[] as v,
    array[${sql.join(aggregates.map(({ count }) => count))}]::float8[] as n
  from (${rows}) as r ${sql.join(joins, sql` `)}
  where ${sql.join(where, sql` and `)}
  group by 1, 2
) as groups order by g, b limit ${limit}`
}

function stretchOf(stretches: ReadRequest['stretches']): Sql {
  if (stretches === undefined) return sql`0`
  const ms = sql`extract(epoch from r.t) * 1000`
  return 'edges' in stretches
    ? sql`width_bucket((${ms})::float8, ${stretches.edges}::float8[])`
    : sql`floor((${ms} - ${stretches.from_ms}::float8) / ${stretches.width_ms}::float8)::int`
}

/** A row counts in the group of each of its values that the selector names. */
function groupValues(dimension: Dimension, globs: readonly string[] | undefined): Sql {
  const named = globs === undefined ? sql`` : sql`where v like any(${patterns(globs)})`
  return sql`cross join lateral (select distinct left(v, ${maxGroupValueChars}) as v
    from unnest(r.${sql.ref(dimension)}) as v ${named}) as ${sql.ref(`d_${dimension}`)}`
}

/** Patterns of globs. PostgreSQL stores no U+0000, so that a glob with it matches nothing. */
function patterns(globs: readonly string[]): Sql {
  const possible = globs.filter((glob) => !glob.includes('\u0000'))
  return sql`${possible.map(likePattern)}::text[]`
}

function aggregateOf(amount: Amount, when: Sql): { value: Sql; count: Sql } {
  if (amount === 'health' || amount === 'trust') {
    const score = sql.ref(`r.${amount}`)
    return {
      value: sql`sum(${score}) filter (where ${when})`,
      count: sql`count(${score}) filter (where ${when})`,
    }
  }
  const summed = sums[amount]
  if (summed !== undefined) {
    const sum = sql`coalesce(sum(${sql.ref(summed)}) filter (where ${when}), 0)`
    return { value: sum, count: sum }
  }
  const count = sql`count(*) filter (where ${which[amount] ?? sql`true`} and ${when})`
  return { value: count, count }
}

const sums: Readonly<Partial<Record<Amount, string>>> = {
  decided_claims: 'r.decided',
  wrong_claims: 'r.wrong',
}

const which: Readonly<Partial<Record<Amount, Sql>>> = {
  failed_tasks: sql`r.failed`,
  looped_tasks: sql`r.looped`,
  negative_votes: sql`r.negative`,
  loops: sql`r.kind = 'loop'`,
  failures: sql`r.kind = 'failure'`,
  context_failures: sql`r.kind = 'context'`,
}

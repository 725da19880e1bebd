import { sql } from '../../../platform/relational/index.ts'
import { detectors } from '../../detection/index.ts'
import type { EvidenceItem } from '../gates/evidence-item.ts'
import type { TaskCounts } from '../gates/task-counts.ts'
import type { CertificationDb, ReadFeedback } from './contract.ts'
import { type CountContext, openTaskCounter } from './count-tasks.ts'
import { type TaskRow, toTaskItem } from './task-item.ts'

/** The detectors that check values of answers. */
const claimDetectors = detectors.filter(({ kind }) => kind === 'claim').map(({ name }) => name)

/** Tasks of one page. */
const page_rows = 2_000

/** Selects the tasks that are evidence: those of a release that began in the window. */
export type TasksAsked = {
  project_id: string
  tags: readonly string[]
  /** As it is stored in certifications: empty for tasks without an environment. */
  environment: string
  /** ISO 8601; `from` inclusive, `to` exclusive. */
  window: { from: string; to: string }
}

/** The tasks of a release, with the numbers of doubtful and missing ones; none of them altered. */
export type TasksRead = {
  items: EvidenceItem[]
  counts: TaskCounts
  /** Whether there are more than `tasks_max`, which were not read. */
  isCut: boolean
}

type Ports = { db: CertificationDb; readFeedback: ReadFeedback }

type ReadSettings = CountContext & {
  salt: Buffer
  withGroup: boolean
  tasks_max: number
  signal: AbortSignal
}

/** Reads tasks page by page, up to `tasks_max`. */
export async function readTasks(
  { db, readFeedback }: Ports,
  asked: TasksAsked,
  limits: ReadSettings,
): Promise<TasksRead> {
  const items: EvidenceItem[] = []
  const counter = openTaskCounter(limits)
  let after: Position = { started_at: asked.window.from, task_id: '' }
  for (;;) {
    limits.signal.throwIfAborted()
    const rows = await readPage(db, asked, after)
    const task_ids = rows.map(({ task_id }) => task_id)
    const { project_id } = asked
    const feedback = await readFeedback({ project_id, task_ids })
    for (const row of rows) {
      const { salt, withGroup } = limits
      items.push(toTaskItem(row, { salt, withGroup, feedback: feedback.get(row.task_id) }))
      counter.add(row)
    }
    if (items.length > limits.tasks_max) {
      return { items: [], counts: counter.counts(0), isCut: true }
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < page_rows) {
      return { items, counts: counter.counts(0), isCut: false }
    }
    after = last
  }
}

type Position = Pick<TaskRow, 'started_at' | 'task_id'>

async function readPage(
  db: CertificationDb,
  { project_id, tags, environment, window }: TasksAsked,
  after: Position,
): Promise<TaskRow[]> {
  const has = (condition: ReturnType<typeof sql>) => sql`coalesce(bool_or(${condition}), false)`
  const { rows } = await sql<TaskRow>`
    with page as (
      select project_id, task_id, name, user_id, conversation_id, state, started_at, cost_usd,
        unpriced_calls, duration_ms, trust_score, verdict is not null as is_analysed,
        coalesce((verdict -> 'values' ->> 'not_checked')::int = 0, false) as is_checked,
        ${notCheckedByVerdict} as has_unchecked_values,
        created_at, calls, errors, total_tokens, input_uncached_tokens as input_tokens,
        (1000 * extract(epoch from ended_at - started_at))::bigint as open_ms,
        coalesce(verification_state in ('pending', 'failed'), false) as is_unverified
      from tasks
      where project_id = ${project_id} and coalesce(environment, '') = ${environment}
        and release = any(${[...tags]}) and started_at < ${window.to}
        and (started_at, task_id) > (${after.started_at}::timestamptz, ${after.task_id})
      order by started_at, task_id limit ${page_rows}
    )
    select page.*, found.*, ${isUnchecked} as is_unchecked from page
    left join task_detections as detection using (project_id, task_id)
    cross join lateral (
      select
        ${has(sql`kind = 'failure' and state = 'open' and severity in ('medium', 'high', 'critical')`)} as has_failure,
        ${has(sql`kind = 'loop'`)} as has_loop,
        ${has(sql`kind = 'context'`)} as has_context_failure,
        ${has(sql`kind = 'claim' and state = 'open'`)} as has_unsupported_claim
      from findings
      where findings.project_id = page.project_id and findings.task_id = page.task_id
        and findings.state <> 'withdrawn'
    ) as found
    order by page.started_at, page.task_id`.execute(db)
  return rows
}

/**
 * SQL of whether the verdict of a task counts values that were not checked; null for a verdict that
 * counts no values.
 */
const notCheckedByVerdict = sql`case when verdict ? 'values'
  then coalesce((verdict -> 'values' ->> 'not_checked')::int > 0, true) end`

/** SQL of whether values of a task were not checked. Without counts the detectors of claims say so. */
const isUnchecked = sql`coalesce(page.has_unchecked_values, exists (
  select from jsonb_array_elements(coalesce(detection.not_checked, '[]')) as entry
  where entry ->> 'detector' = any(${claimDetectors})))`

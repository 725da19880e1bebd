import { z } from 'zod'
import { toJsonLine } from '../../../kernel/json-lines.ts'
import { decodeCursor, encodeCursor } from '../../../kernel/pages.ts'
import { problem } from '../../../kernel/problem.ts'
import {
  cursorParameter,
  flagParameter,
  instantParameter,
  integerParameter,
  isoWindow,
} from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import { Answer, defineRoute, linesMediaType, type Route } from '../../../platform/http/index.ts'
import { sql } from '../../../platform/relational/index.ts'
import { type InsightDb, type InsightDeps, labelReadScope } from '../contract.ts'
import { labelSchema, toLabel } from '../review/labels.ts'
import { labelsOfTasks } from '../review/labels-store.ts'

const list = 'feedback export'
/** Characters after which a page ends, so that long comments do not make it huge. */
const maxPageChars = 8_000_000
/** Tasks of one read. */
const chunk_tasks = 50

/** Maximum items of feedback and findings of a task in an export, the newest and most severe. */
const items_max = 100

const findings_max = 100

const exportedTask = record('ExportedTask', {
  task_id: z.string(),
  name: z.string(),
  user_id: z.string().nullable(),
  conversation_id: z.uuid().nullable(),
  state: z.string(),
  started_at: z.iso.datetime(),
  ended_at: z.iso.datetime().nullable(),
  environment: z.string().nullable(),
  release: z.string().nullable(),
  models: z.array(z.string()),
  tools: z.array(z.string()),
  trust_score: z.number().nullable(),
  trace_ids: z
    .array(z.string())
    .describe('Traces of its feedback, findings and verifications, at most 1,000.'),
  findings: z
    .array(
      record('ExportedFinding', {
        finding_id: z.uuid(),
        detector: z.string(),
        type: z.string(),
        severity: z.string(),
      }),
    )
    .max(findings_max),
  feedback: z
    .array(
      record('ExportedFeedback', {
        feedback_id: z.string(),
        source: z.string(),
        sentiment: z.string().nullable(),
        rating: z.int().nullable(),
        thumbs: z.string().nullable(),
        labels: z.array(z.string()),
        comment: z.string().nullable(),
        correction: z.string().nullable(),
        counts: z.boolean(),
        at: z.iso.datetime(),
      }),
    )
    .max(items_max)
    .describe('The newest 100 items, oldest first.'),
  labels: z.array(labelSchema).describe('Labels of reviewers.'),
})

/**
 * GET /api/v1/feedback/export: tasks with feedback or labels, in order of their ids. Clients that
 * accept `application/x-ndjson` get one line per task, and the cursor in the header
 * `X-Next-Cursor`.
 */
export function exportFeedback({ db }: InsightDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/feedback/export',
    id: 'exportFeedback',
    summary: 'Tasks with their feedback and labels, as JSON or NDJSON',
    audit: 'content',
    auth: 'jwt',
    scope: labelReadScope,
    lines: 'if_accepted',
    query: z.strictObject({
      from: instantParameter('Only tasks that started at or after this instant.'),
      to: instantParameter('Only tasks that started before this instant.'),
      labelled: flagParameter('`true`: only tasks with a label of a reviewer.'),
      limit: integerParameter({
        minimum: 1,
        maximum: 1_000,
        default: 200,
        description: 'Maximum tasks of a page; a page also ends after 8 million characters.',
      }),
      cursor: cursorParameter,
    }),
    reply: record('FeedbackExport', {
      tasks: z.array(exportedTask),
      next_cursor: z.string().nullable().describe('Cursor of the next page; null on the last one.'),
    }),
    errors: ['invalid_cursor', 'store_unavailable'],
    handle: async ({ query: { limit, cursor, labelled = false, ...window }, caller, headers }) => {
      const { project_id } = caller
      const filter = { project_id, ...isoWindow(window), labelled }
      const after = cursor === undefined ? '' : taskIn(cursor)
      const ids = await findExported(db, { ...filter, after, limit: limit + 1 })
      const tasks = await readPage({ db }, project_id, ids.slice(0, limit))
      const last = tasks.at(-1)
      const isMore = last !== undefined && ids.at(-1) !== last.task_id
      const page = { tasks, next_cursor: isMore ? encodeCursor(list, [last.task_id]) : null }
      if (!String(headers['accept']).includes(linesMediaType)) return page
      const text = tasks.map(toJsonLine).join('')
      return new Answer(page, {
        content: { media_type: linesMediaType, text },
        headers: page.next_cursor === null ? {} : { 'X-Next-Cursor': page.next_cursor },
      })
    },
  })
}

/** A task of a trace; other implicit tasks have ids of their own. */
const traceId = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'

/** Filters of the export. Instants are ISO 8601, and apply to the start of a task. */
type ExportFilter = {
  project_id: string
  from?: string | undefined
  to?: string | undefined
  /** Only tasks with a label of a reviewer. */
  labelled: boolean
  /** Only tasks after this task id. */
  after: string
  limit: number
}

/** Returns ids of tasks with feedback or labels, in order. */
async function findExported(db: InsightDb, filter: ExportFilter): Promise<string[]> {
  const { project_id, from = null, to = null, labelled, after, limit } = filter
  const rated = labelled
    ? sql``
    : sql`union (
        select task_ref from feedback_tasks
        where project_id = ${project_id} and task_ref is not null and task_ref > ${after}
          and (${from}::timestamptz is null or task_started_at >= ${from})
          and (${to}::timestamptz is null or task_started_at < ${to})
        order by task_ref limit ${limit})`
  const { rows } = await sql<{ task_id: string }>`
    select task_id from (
      (select distinct label.task_id
        from review_labels as label join tasks using (project_id, task_id)
        where label.project_id = ${project_id} and label.task_id > ${after}
          and (${from}::timestamptz is null or tasks.started_at >= ${from})
          and (${to}::timestamptz is null or tasks.started_at < ${to})
        order by label.task_id limit ${limit})
      ${rated}
    ) as found
    order by task_id limit ${limit}`.execute(db)
  return rows.map(({ task_id }) => task_id)
}

/** An item of feedback in an export. */
type ExportedItem = {
  feedback_id: string
  source: string
  sentiment: string | null
  rating: number | null
  thumbs: string | null
  labels: string[]
  comment: string | null
  correction: string | null
  counts: boolean
  at: string
}

/** A stored task of an export. */
type ExportedTask = {
  task_id: string
  name: string
  user_id: string | null
  conversation_id: string | null
  state: string
  started_at: string
  ended_at: string | null
  environment: string | null
  release: string | null
  models: string[]
  tools: string[]
  trust_score: number | null
  trace_ids: string[]
  findings: { finding_id: string; detector: string; type: string; severity: string }[]
  feedback: ExportedItem[]
}

/** Reads tasks with their feedback, findings and traces, in order of their ids. */
async function readExported(
  db: InsightDb,
  project_id: string,
  task_ids: readonly string[],
): Promise<ExportedTask[]> {
  const same = (table: string) =>
    sql`${sql.ref(`${table}.project_id`)} = tasks.project_id
      and ${sql.ref(`${table}.task_id`)} = tasks.task_id`
  const { rows } = await sql<ExportedTask>`
    select task_id, name, user_id, conversation_id, state, started_at, ended_at, environment, release,
      models, trust_score,
      coalesce((select run.tools from task_detections as run where ${same('run')}), '{}') as tools,
      array(
        select trace_id::text from (
          select unnest(finding.trace_ids) as trace_id from findings as finding
            where ${same('finding')}
          union select check_run.trace_id from verification_runs as check_run
            where ${same('check_run')}
          union select item.trace_id from feedback as item
            join feedback_tasks as rated using (project_id, task_id)
            where rated.project_id = tasks.project_id and rated.task_ref = tasks.task_id
          union select case when tasks.implicit and tasks.task_id ~ ${traceId}
            then tasks.task_id::uuid end
        ) as known where trace_id is not null order by 1 limit 1000
      ) as trace_ids,
      coalesce((
        select jsonb_agg(finding order by finding_id) from (
          select finding_id, detector, type, severity from findings as finding
          where ${same('finding')} and state <> 'withdrawn' order by finding_id
          limit ${findings_max}
        ) as finding), '[]') as findings,
      coalesce((
        select jsonb_agg(item order by at, feedback_id) from (
          select feedback_id, source, sentiment, rating, thumbs, labels, comment, correction, counts,
            to_char(item.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at
          from feedback as item join feedback_tasks as rated using (project_id, task_id)
          where rated.project_id = tasks.project_id and rated.task_ref = tasks.task_id
            and item.state = 'attached'
          order by item.at desc, feedback_id limit ${items_max}
        ) as item), '[]') as feedback
    from tasks
    where project_id = ${project_id} and task_id = any(${[...task_ids]})
    order by task_id`.execute(db)
  return rows
}

function taskIn(cursor: string): string {
  const [task_id] = decodeCursor(list, cursor, 1)
  if (typeof task_id === 'string' && !task_id.includes('\u0000')) return task_id
  throw problem('invalid_cursor', {
    detail: `cursor: got "${cursor.slice(0, 80)}", expected an unchanged next_cursor`,
  })
}

type ExportLine = z.input<typeof exportedTask>

/**
 * Reads chunks of tasks until the page is full. Each page has a chunk, so that it makes progress.
 */
async function readPage(
  { db }: Pick<InsightDeps, 'db'>,
  project_id: string,
  ids: readonly string[],
): Promise<ExportLine[]> {
  const lines: ExportLine[] = []
  let chars = 0
  for (let at = 0; at < ids.length && chars < maxPageChars; at += chunk_tasks) {
    const chunk = ids.slice(at, at + chunk_tasks)
    const [tasks, labels] = await Promise.all([
      readExported(db, project_id, chunk),
      labelsOfTasks(db, project_id, chunk),
    ])
    const byTask = Map.groupBy(labels, ({ task_id }) => task_id)
    for (const task of tasks) {
      if (chars >= maxPageChars) break
      const line = { ...task, labels: (byTask.get(task.task_id) ?? []).map(toLabel) }
      chars += JSON.stringify(line).length
      lines.push(line)
    }
  }
  return lines
}

import { type Kysely, prepared, sql, type TaskTables } from '../../../platform/relational/index.ts'
import type { CallLinks, LinkedCall } from '../../records/call-task/index.ts'
import type { ObservationHead } from '../../storage/row-format/index.ts'
import { type TraceKey, textOf } from './recent-traces.ts'

/** A row of a batch, with the names that link its call to others. */
export type LinkedHead = ObservationHead & { links?: CallLinks }

/** A stored link, with the task that the call had before. */
export type StoredLink = LinkedCall & { project_id: string; task_id: string }

/** The traces of noted links. */
export type LinkWalk = {
  /** The keys, as text, of the traces whose links were followed in both directions. */
  walked: ReadonlySet<string>
  /** The traces that have a link to another one, and those that it leads to. */
  reached: readonly TraceKey[]
}

/**
 * Notes the links of the calls of a batch, and returns the traces that the links lead to, together
 * with their own. The batch must be stored, and the notes are durable when this returns. So of two
 * workers with calls that are linked, the later one to note finds the calls of both.
 */
export async function noteLinks(
  db: Kysely<TaskTables>,
  heads: readonly LinkedHead[],
): Promise<LinkWalk> {
  const links = heads.flatMap(storedLinks)
  if (links.length === 0) return { walked: new Set(), reached: [] }
  const list = (of: (link: StoredLink) => unknown) => links.map((link) => String(of(link)))
  await sql`
    insert into recent_links (project_id, name, is_giver, trace_id, observation_id, task_id,
      start_time)
    select distinct on (1, 2, 3, 4, 5) * from unnest(
      ${list(({ project_id }) => project_id)}::uuid[],
      ${list(({ name }) => name)}::text[],
      ${list(({ is_giver }) => is_giver)}::boolean[],
      ${list(({ trace_id }) => trace_id)}::uuid[],
      ${list(({ observation_id }) => observation_id)}::text[],
      ${list(({ task_id }) => task_id)}::text[],
      ${list(({ start_time }) => start_time)}::bigint[])
    on conflict (project_id, name, is_giver, trace_id, observation_id) do update
    set seen_on = excluded.seen_on`.execute(prepared(db, 'note_links'))
  const reached = await tracesAlongLinks(db, links)
  return { walked: new Set([...links, ...reached].map(textOf)), reached }
}

function storedLinks({ links, ...head }: LinkedHead): StoredLink[] {
  if (links === undefined) return []
  const { project_id, trace_id, observation_id, task_id, start_time } = head
  const call = { project_id, trace_id, observation_id, task_id, start_time }
  const given = links.gives.map((name) => ({ ...call, name, is_giver: true }))
  return links.wants === '' ? given : [...given, { ...call, name: links.wants, is_giver: false }]
}

/** Most traces that are read because of the links of one batch; the nearest ones come first. */
const linked_max = 1_000
/** Names of loops are not unique; see `nearestGivers`. */
const loop_ns = 3_600_000_000_000

/**
 * Returns the traces that are reached from these along links, in both directions, with those of these
 * that have a link to another trace. Empty if no link leads to another trace. `offset 0` keeps the
 * search by the name of the link; see `callsAlike`.
 */
export async function tracesAlongLinks(
  db: Kysely<TaskTables>,
  traces: readonly TraceKey[],
): Promise<TraceKey[]> {
  const given = [...new Map(traces.map((trace) => [textOf(trace), trace])).values()].map(
    ({ project_id, trace_id }) => ({ project_id, trace_id }),
  )
  if (given.length === 0) return []
  const { rows } = await sql<TraceKey & { origin: string }>`
    with recursive reached (project_id, trace_id, origin) as (
      select project_id, trace_id, trace_id from json_to_recordset(${JSON.stringify(given)}::json)
        as given (project_id uuid, trace_id uuid)
      union
      select other.project_id, other.trace_id, reached.origin
      from reached
      join recent_links as own using (project_id, trace_id)
      cross join lateral (
        select project_id, trace_id from recent_links as linked
        where linked.project_id = own.project_id and linked.name = own.name
          and linked.is_giver <> own.is_giver and linked.trace_id <> own.trace_id
          and (own.name not like 'history:%'
            or abs(linked.start_time - own.start_time) <= ${loop_ns}::bigint)
        offset 0
      ) as other
    )
    select project_id, trace_id, origin from reached
    limit ${given.length + linked_max}`.execute(prepared(db, 'traces_along_links'))
  const leaving = rows.filter(({ trace_id, origin }) => trace_id !== origin)
  return leaving.flatMap(({ project_id, trace_id, origin }) => [
    { project_id, trace_id },
    { project_id, trace_id: origin },
  ])
}

/** Returns the links of the calls of these traces. */
export async function linksOfTraces(
  db: Kysely<TaskTables>,
  traces: readonly TraceKey[],
): Promise<StoredLink[]> {
  if (traces.length === 0) return []
  const list = traces.map(({ project_id, trace_id }) => ({ project_id, trace_id }))
  const { rows } = await sql<Omit<StoredLink, 'start_time'> & { start_time: string }>`
    select project_id, name, is_giver, trace_id, observation_id, task_id, start_time::text
    from json_to_recordset(${JSON.stringify(list)}::json) as given (project_id uuid, trace_id uuid)
    join recent_links using (project_id, trace_id)`.execute(prepared(db, 'links_of_traces'))
  return rows.map((row) => ({ ...row, start_time: BigInt(row.start_time) }))
}

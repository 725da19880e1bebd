import type { z } from 'zod'
import type { ProblemCode } from '../../kernel/problem.ts'
import type { Clock } from '../../kernel/time.ts'
import {
  Answer,
  type Caller,
  defineRoute,
  etagOf,
  ifMatchHeader,
  type Route,
  type RouteAuth,
  type RouteScope,
  requesterOf,
  writeIfMatch,
} from '../../platform/http/index.ts'
import type { EffectiveDocument, OwnColumns, ProjectRow, ProjectTable } from './project-table.ts'
import type { AnyDatabase } from './versioned-table.ts'

/** A document of which each project has one. */
export type ProjectDocument<
  Row extends ProjectRow,
  Body extends z.ZodType,
  Reply extends z.ZodType,
> = {
  table: ProjectTable<Row>
  url: string
  get: { id: string; summary: string; auth: RouteAuth; scope: RouteScope & { level: 'project' } }
  /** Only people who administer the project change it. */
  put: { id: string; summary: string }
  body: Body
  reply: Reply
  /** Errors of both routes. */
  errors: readonly ProblemCode[]
  /** Returns the columns that a body sets. May refuse a body that its schema accepts. */
  toColumns: (body: z.output<Body>, caller: Caller) => OwnColumns<Row> | Promise<OwnColumns<Row>>
  toReply: (document: EffectiveDocument<Row>) => z.input<Reply> | Promise<z.input<Reply>>
  /** Writes a change with its effects on other tables, in place of `table.write`. */
  write?: (
    change: Omit<Row, 'version'>,
    version: number | undefined,
    caller: Caller,
  ) => Promise<Row | undefined>
  /** Runs after a change. */
  changed?: (project_id: string) => void
}

/**
 * Returns the routes GET and PUT of a document. PUT replaces the whole document; with If-Match it
 * answers 412 when the document has changed since it was read.
 */
export function projectDocumentRoutes<
  Row extends ProjectRow,
  Body extends z.ZodType,
  Reply extends z.ZodType,
>(deps: { db: AnyDatabase; clock: Clock }, declared: ProjectDocument<Row, Body, Reply>): Route[] {
  const { table, url, reply, errors } = declared
  const write: typeof declared.write =
    declared.write ?? ((change, version) => table.write(deps.db, change, version))
  const toAnswer = async (document: EffectiveDocument<Row>) =>
    new Answer(await declared.toReply(document), { headers: { etag: etagOf(document.version) } })
  const get = defineRoute({
    method: 'GET',
    url,
    ...declared.get,
    etag: true,
    reply,
    errors,
    handle: async ({ caller: { project_id } }) => toAnswer(await table.read(deps.db, project_id)),
  })
  const put = defineRoute({
    method: 'PUT',
    url,
    ...declared.put,
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null },
    etag: true,
    headers: [ifMatchHeader],
    body: declared.body,
    reply,
    errors: ['precondition_failed', ...errors],
    handle: async ({ body, caller, headers }) => {
      const { project_id } = caller
      const change = {
        ...(await declared.toColumns(body as z.output<Body>, caller)),
        project_id,
        updated_at: new Date(deps.clock.now_ms()).toISOString(),
        updated_by: requesterOf(caller),
      } as Omit<Row, 'version'>
      const stored = await writeIfMatch(headers, {
        write: (version) => write(change, version, caller),
        find: () => table.find(deps.db, project_id),
      })
      declared.changed?.(project_id)
      return toAnswer(stored)
    },
  })
  return [get, put]
}

import { z } from 'zod'
import { newId } from '../../kernel/ids.ts'
import type { ProblemCode } from '../../kernel/problem.ts'
import type { Clock } from '../../kernel/time.ts'
import { idAfter, idPage, idPageQuery } from '../../model/id-pages.ts'
import { flagParameter } from '../../model/list-query.ts'
import { type ManagedBy, managedByParameter } from '../../model/managed-by.ts'
import { record } from '../../model/named-schemas.ts'
import {
  Answer,
  type Caller,
  defineRoute,
  etagOf,
  ifMatchHeader,
  type Route,
  type RouteAuth,
  type RouteScope,
} from '../../platform/http/index.ts'
import { declaredByParameter, getDeclarer } from '../access/index.ts'
import { requesterOf } from '../jobs/index.ts'
import {
  createDocument,
  type DocumentRules,
  deleteDocument,
  replaceDocument,
  type WrittenDocument,
} from './change-document.ts'
import type { DocumentFilter, DocumentPage, NamedRow } from './named-table.ts'
import type { AnyDatabase } from './versioned-table.ts'

type Operation = { id: string; summary: string }
type ProjectScope = RouteScope & { level: 'project' }

/** Documents of which a project has several. */
export type NamedDocuments<
  Row extends NamedRow,
  Spec,
  Reply extends z.ZodType,
  Db extends AnyDatabase,
> = DocumentRules<Row, Spec, Db> & {
  url: string
  /** URL of one document, which ends with its id. */
  item_url: string
  list: Operation & {
    /** Name of the reply, and of its field with the documents. */
    reply: string
    field: string
    /** Parameters that choose documents, beside `managed_by`. */
    filter?: Readonly<Record<string, z.ZodType<string | undefined>>>
  }
  /** `again` describes the answer when the resource declares a document already. */
  create: Operation & { again?: string }
  get: Operation
  put: Operation
  delete: Operation
  reads: ProjectScope
  writes: ProjectScope
  /** Credentials that changes accept; by default access tokens alone. */
  write_auth?: RouteAuth
  body: z.ZodType<Spec & { managed_by?: ManagedBy | undefined }>
  reply: Reply
  /** Errors of POST and PUT, and those of PUT alone. */
  errors?: readonly ProblemCode[]
  put_errors?: readonly ProblemCode[]
  /** Fields of the reply that are shown once. */
  shown_once?: readonly string[]
  /** Selects a page, if not by columns alone. */
  select?: (
    caller: Caller,
    page: DocumentPage & { filter: DocumentFilter },
  ) => Promise<{ rows: readonly Row[]; counted: number }>
  /** Returns the replies of some documents of a project for a caller, in the same order. */
  toReplies: (documents: readonly Row[], caller: Caller) => Promise<z.input<Reply>[]>
}

/** Dependencies of the routes of documents. */
type Deps<Db> = { db: Db; clock: Clock }

/** Returns the routes that list, create, read, replace and delete documents. */
export function namedDocumentRoutes<
  Row extends NamedRow,
  Spec,
  Reply extends z.ZodType,
  Db extends AnyDatabase,
>(deps: Deps<Db>, declared: NamedDocuments<Row, Spec, Reply, Db>): Route[] {
  const parts = new RouteParts(deps, declared)
  return [parts.list(), parts.create(), parts.get(), parts.put(), parts.delete()]
}

class RouteParts<Row extends NamedRow, Spec, Reply extends z.ZodType, Db extends AnyDatabase> {
  readonly #deps: Deps<Db>
  readonly #declared: NamedDocuments<Row, Spec, Reply, Db>
  readonly #params: z.ZodType<Record<string, string>>
  /** Errors of changes of a document. */
  readonly #errors: readonly ProblemCode[]

  constructor(deps: Deps<Db>, declared: NamedDocuments<Row, Spec, Reply, Db>) {
    const { table, is_owned } = declared
    const { noun, not_found, id_name } = table
    this.#deps = deps
    this.#declared = declared
    this.#params = z.strictObject({ [id_name]: z.string().describe(`Id of the ${noun}.`) })
    const managed = is_owned ? (['managed_by_kubernetes'] as const) : []
    this.#errors = [not_found, ...managed, 'precondition_failed', 'store_unavailable']
  }

  list(): Route {
    const { url, title, table, list, reads, reply, is_owned } = this.#declared
    const select =
      this.#declared.select ??
      (({ project_id }, page) => table.select(this.#deps.db, project_id, page))
    return defineRoute({
      method: 'GET',
      url,
      id: list.id,
      summary: list.summary,
      auth: 'jwt_or_key',
      scope: reads,
      query: z.strictObject({
        ...list.filter,
        ...(is_owned && {
          managed_by: managedByParameter
            .optional()
            .describe(`Only the ${table.noun} that this resource declares.`),
        }),
        ...idPageQuery,
      }),
      reply: record(list.reply, {
        [list.field]: z.array(reply),
        total: z.int().nonnegative(),
        total_is_exact: z.literal(false).optional(),
        next_cursor: z.string().nullable(),
      }),
      errors: ['invalid_cursor', 'store_unavailable'],
      handle: async ({ query: { limit, cursor, ...given }, caller }) => {
        const filter = given as DocumentFilter
        const chosen = Object.keys(list.filter ?? {}).map((name) => filter[name] ?? '')
        const name = [title, ...chosen].join(' ')
        const before = idAfter(name, cursor)
        const result = await select(caller, { filter, before, limit: limit + 1 })
        const page = idPage(result, { list: name, limit, idOf: ({ id }) => id })
        const documents = await this.#declared.toReplies(page.items, caller)
        return { [list.field]: documents, ...page.info }
      },
    })
  }

  /**
   * When the resource of an operator's call declares a document already, the answer is that
   * document with 200, so that an operator that crashed after the first call can repeat it.
   */
  create(): Route {
    const { url, create, writes, body, reply, shown_once, errors = [] } = this.#declared
    return defineRoute({
      method: 'POST',
      url,
      id: create.id,
      summary: create.summary,
      etag: true,
      status: 201,
      auth: this.#declared.write_auth ?? 'jwt',
      scope: writes,
      idempotent: true,
      ...(shown_once && { shown_once }),
      body,
      reply,
      ...(create.again && { also: { status: 200, description: create.again, reply } }),
      errors: [...errors, 'limit_reached', 'store_unavailable'],
      handle: async ({ body: given, caller }) => {
        const change = { ...this.#changeOf(given, caller), id: newId() }
        const written = await createDocument(this.#deps.db, this.#declared, change)
        return this.#toAnswer(written, caller, written.is_new ? 201 : 200)
      },
    })
  }

  get(): Route {
    const { item_url, get, reads, reply, table } = this.#declared
    return defineRoute({
      method: 'GET',
      url: item_url,
      id: get.id,
      summary: get.summary,
      etag: true,
      auth: 'jwt_or_key',
      scope: reads,
      params: this.#params,
      reply,
      errors: [table.not_found, 'store_unavailable'],
      handle: async ({ params, caller }) => {
        const key = { project_id: caller.project_id, id: this.#idIn(params) }
        const document = await table.read(this.#deps.db, key)
        const isVisible = this.#declared.isVisible?.(document, requesterOf(caller)) ?? true
        if (!isVisible) throw table.notFound(key.id)
        return this.#toAnswer({ document }, caller)
      },
    })
  }

  put(): Route {
    const { item_url, put, writes, body, reply, errors = [], put_errors = [] } = this.#declared
    return defineRoute({
      method: 'PUT',
      url: item_url,
      id: put.id,
      summary: put.summary,
      etag: true,
      auth: this.#declared.write_auth ?? 'jwt',
      scope: writes,
      headers: [ifMatchHeader],
      params: this.#params,
      body,
      reply,
      errors: [...this.#errors, ...errors, ...put_errors],
      handle: async ({ params, body: given, caller, headers }) => {
        const change = { ...this.#changeOf(given, caller), id: this.#idIn(params), headers }
        return this.#toAnswer(await replaceDocument(this.#deps.db, this.#declared, change), caller)
      },
    })
  }

  delete(): Route {
    const { item_url, delete: operation, writes, is_owned, table } = this.#declared
    const query = z.strictObject({
      managed_by: declaredByParameter,
      retain: flagParameter(
        `\`true\`: keep the ${table.noun} and remove only its declaration. Requires \`managed_by\`.`,
      ),
    })
    return defineRoute({
      method: 'DELETE',
      url: item_url,
      id: operation.id,
      summary: operation.summary,
      status: 204,
      auth: this.#declared.write_auth ?? 'jwt',
      scope: writes,
      headers: [ifMatchHeader],
      params: this.#params,
      query: is_owned ? query : undefined,
      reply: z.undefined(),
      errors: this.#errors,
      handle: async ({ params, query: { managed_by, retain = false } = {}, caller, headers }) => {
        await deleteDocument(this.#deps.db, this.#declared, {
          project_id: caller.project_id,
          id: this.#idIn(params),
          headers,
          owner: getDeclarer(caller, { managed_by, take_over: retain }),
          by: requesterOf(caller),
          at: this.#now(),
          is_operator: caller.kind === 'operator',
          retain,
        })
        return undefined
      },
    })
  }

  #now(): string {
    return new Date(this.#deps.clock.now_ms()).toISOString()
  }

  #idIn(params: Record<string, string>): string {
    return params[this.#declared.table.id_name] ?? ''
  }

  #changeOf(body: Spec & { managed_by?: ManagedBy | undefined }, caller: Caller) {
    const { managed_by, ...spec } = body
    return {
      project_id: caller.project_id,
      spec: spec as unknown as Spec,
      managed_by: getDeclarer(caller, { managed_by }),
      at: this.#now(),
      by: requesterOf(caller),
    }
  }

  async #toAnswer(
    { document, shown_once }: Pick<WrittenDocument<Row>, 'document' | 'shown_once'>,
    caller: Caller,
    status?: 200 | 201,
  ): Promise<Answer<z.input<Reply>>> {
    const [reply] = await this.#declared.toReplies([document], caller)
    const headers = { etag: etagOf(document.version) }
    const body = { ...(reply as object), ...shown_once } as z.input<Reply>
    return new Answer(body, { headers, ...(status !== undefined && { status }) })
  }
}

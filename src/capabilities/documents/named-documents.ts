import { z } from 'zod'
import { newId } from '../../kernel/ids.ts'
import type { ProblemCode } from '../../kernel/problem.ts'
import type { Clock } from '../../kernel/time.ts'
import { type IdPage, idPage, idPageAfter, idPageQuery, pageFields } from '../../model/id-pages.ts'
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
  requesterOf,
} from '../../platform/http/index.ts'
import { declaredByParameter, getDeclarer } from '../access/index.ts'
import { type DocumentRules, DocumentWriter, type WrittenDocument } from './change-document.ts'
import type { DocumentFilter, NamedRow } from './named-table.ts'
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
  /** Not for documents whose ids authors choose: PUT creates those. `again` describes the answer when the resource declares a document already. */
  create?: Operation & { again?: string }
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
    page: IdPage & { filter: DocumentFilter },
  ) => Promise<{ rows: readonly Row[]; counted: number }>
  /** Returns the replies of some documents of a project for a caller, in the same order. */
  toReplies: (documents: readonly Row[], caller: Caller) => Promise<z.input<Reply>[]>
}

type Deps<Db> = { db: Db; clock: Clock }

/** Returns the routes that list, create, read, replace and delete documents. */
export function namedDocumentRoutes<
  Row extends NamedRow,
  Spec,
  Reply extends z.ZodType,
  Db extends AnyDatabase,
>(deps: Deps<Db>, declared: NamedDocuments<Row, Spec, Reply, Db>): Route[] {
  const parts = new RouteParts(deps, declared)
  return [parts.list(), ...parts.create(), parts.get(), parts.put(), parts.delete()]
}

class RouteParts<Row extends NamedRow, Spec, Reply extends z.ZodType, Db extends AnyDatabase> {
  readonly #deps: Deps<Db>
  readonly #declared: NamedDocuments<Row, Spec, Reply, Db>
  readonly #writer: DocumentWriter<Row, Spec, Db>
  /** Who may change documents. */
  readonly #change: { auth: RouteAuth; scope: ProjectScope }
  /** Errors of changes of a document. */
  readonly #errors: readonly ProblemCode[]

  constructor(deps: Deps<Db>, declared: NamedDocuments<Row, Spec, Reply, Db>) {
    const { is_owned } = declared
    this.#deps = deps
    this.#declared = declared
    this.#writer = new DocumentWriter(deps.db, declared)
    this.#change = { auth: declared.write_auth ?? 'jwt', scope: declared.writes }
    const managed = is_owned ? (['managed_by_kubernetes'] as const) : []
    this.#errors = [...managed, 'precondition_failed', 'store_unavailable']
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
            .describe(`Only the ${table.options.noun} that this resource declares.`),
        }),
        ...idPageQuery,
      }),
      reply: record(list.reply, { [list.field]: z.array(reply), ...pageFields }),
      errors: ['invalid_cursor', 'store_unavailable'],
      handle: async ({ query: { limit, cursor, ...given }, caller }) => {
        const filter = given as DocumentFilter
        const chosen = Object.keys(list.filter ?? {}).map((name) => filter[name] ?? '')
        const name = [title, ...chosen].join(' ')
        const rows = idPageAfter(name, { limit, cursor }, (id) => table.isId(id))
        const result = await select(caller, { filter, ...rows })
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
  create(): Route[] {
    const { url, create, body, reply, shown_once, errors = [] } = this.#declared
    if (create === undefined) return []
    const route = defineRoute({
      method: 'POST',
      url,
      id: create.id,
      summary: create.summary,
      etag: true,
      status: 201,
      ...this.#change,
      idempotent: true,
      ...(shown_once && { shown_once }),
      body,
      reply,
      ...(create.again && { also: { status: 200, description: create.again, reply } }),
      errors: [...errors, 'limit_reached', 'store_unavailable'],
      handle: async ({ body: given, caller }) => {
        const change = { ...this.#changeOf(given, caller), id: newId() }
        const written = await this.#writer.create(change)
        return this.#toAnswer(written, caller, written.is_new ? 201 : 200)
      },
    })
    return [route]
  }

  get(): Route {
    const { item_url, get, reads, reply, table } = this.#declared
    return defineRoute({
      method: 'GET',
      url: item_url,
      ...get,
      etag: true,
      auth: 'jwt_or_key',
      scope: reads,
      params: table.path,
      reply,
      errors: [table.options.not_found, 'store_unavailable'],
      handle: async ({ params, caller }) => {
        const key = { project_id: caller.project_id, id: table.idIn(params) }
        const document = await table.read(this.#deps.db, key)
        const isHidden = this.#declared.isVisible?.(document, requesterOf(caller)) === false
        if (isHidden) throw table.notFound(key.id)
        return this.#toAnswer({ document }, caller)
      },
    })
  }

  put(): Route {
    const { item_url, put, body, reply, table, errors = [], put_errors = [] } = this.#declared
    const unknown = table.options.chosen_id ? 'limit_reached' : table.options.not_found
    return defineRoute({
      method: 'PUT',
      url: item_url,
      ...put,
      etag: true,
      ...this.#change,
      headers: [ifMatchHeader],
      params: table.path,
      body,
      reply,
      errors: [unknown, ...this.#errors, ...errors, ...put_errors],
      handle: async ({ params, body: given, caller, headers }) => {
        const change = { ...this.#changeOf(given, caller), id: table.idIn(params), headers }
        return this.#toAnswer(await this.#writer.replace(change), caller)
      },
    })
  }

  delete(): Route {
    const { item_url, delete: operation, is_owned, table } = this.#declared
    const query = z.strictObject({
      managed_by: declaredByParameter,
      retain: flagParameter(
        `\`true\`: keep the ${table.options.noun} and remove only its declaration. Requires \`managed_by\`.`,
      ),
    })
    return defineRoute({
      method: 'DELETE',
      url: item_url,
      ...operation,
      status: 204,
      ...this.#change,
      headers: [ifMatchHeader],
      params: table.path,
      query: is_owned ? query : undefined,
      reply: z.undefined(),
      errors: [table.options.not_found, ...this.#errors],
      handle: async ({ params, query: { managed_by, retain = false } = {}, caller, headers }) => {
        await this.#writer.delete({
          ...this.#authored(caller),
          id: table.idIn(params),
          headers,
          owner: getDeclarer(caller, { managed_by, take_over: retain }),
          is_operator: caller.kind === 'operator',
          retain,
        })
        return undefined
      },
    })
  }

  #authored(caller: Caller) {
    const at = new Date(this.#deps.clock.now_ms()).toISOString()
    return { project_id: caller.project_id, at, by: requesterOf(caller) }
  }

  #changeOf(body: Spec & { managed_by?: ManagedBy | undefined }, caller: Caller) {
    const { managed_by, ...spec } = body
    return {
      ...this.#authored(caller),
      spec: spec as unknown as Spec,
      managed_by: getDeclarer(caller, { managed_by }),
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

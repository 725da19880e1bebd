import { call } from '../../api/client.ts'
import type { AggregateAnswer, QueryExplanation, QueryPage } from '../../api/schema.gen.d.ts'
import type { Body } from './body.ts'
import type { Asked, Instants } from './use-draft.ts'

/** Path of the route that runs a query. */
export function pathOf(body: Body): string {
  const path = '/api/v2/observability/query'
  return body.measures === undefined ? path : `${path}/aggregate`
}

/** Returns the body that the API gets. */
export function withWindow({ body, window }: Asked): Body & { window: Instants } {
  return { ...body, window }
}

type About = { cursor?: string | undefined; limit?: number; signal?: AbortSignal }

/** Reads a page of records. */
export async function readPage(asked: Asked, { cursor, limit, signal }: About): Promise<QueryPage> {
  const body = { ...withWindow(asked), ...(cursor && { cursor }), ...(limit && { limit }) }
  const { data } = await call.POST('/api/v2/observability/query', {
    body: body as never,
    ...(signal && { signal }),
  })
  if (data === undefined) throw new Error('The server sent an empty reply')
  return data
}

/** Reads the groups of an aggregate. */
export async function readGroups(asked: Asked, signal?: AbortSignal): Promise<AggregateAnswer> {
  const { data } = await call.POST('/api/v2/observability/query/aggregate', {
    body: withWindow(asked) as never,
    ...(signal && { signal }),
  })
  if (data === undefined) throw new Error('The server sent an empty reply')
  return data
}

/** Asks what a query would read, without running it. */
export async function explain(asked: Asked, signal: AbortSignal): Promise<QueryExplanation> {
  const { data } = await call.POST('/api/v2/observability/query/explain', {
    body: withWindow(asked) as never,
    signal,
  })
  if (data === undefined) throw new Error('The server sent an empty reply')
  return data
}

import { call } from '../../api/client.ts'
import type { SavedQuery, SavedQueryRequest } from '../../api/schema.gen.d.ts'

const path = '/api/v2/observability/saved-queries/{saved_query_id}'

/** Reads a saved query, with the ETag that a change must name. */
export async function readSaved(saved_query_id: string, signal?: AbortSignal) {
  const { data, response } = await call.GET(path, {
    params: { path: { saved_query_id } },
    ...(signal && { signal }),
  })
  if (data === undefined) throw new Error('The server sent an empty reply')
  return { saved: data as SavedQuery, etag: response.headers.get('etag') ?? '' }
}

/** Stores a new query. */
export async function createSaved(request: SavedQueryRequest): Promise<SavedQuery> {
  const { data } = await call.POST('/api/v2/observability/saved-queries', {
    params: { header: {} },
    body: request,
  })
  if (data === undefined) throw new Error('The server sent an empty reply')
  return data as SavedQuery
}

/** Replaces a saved query of the version that the ETag names. */
export async function replaceSaved(
  saved_query_id: string,
  request: SavedQueryRequest,
  etag: string,
): Promise<void> {
  await call.PUT(path, {
    params: { path: { saved_query_id }, header: { 'If-Match': etag } },
    body: request,
  })
}

/** Deletes a saved query of the version that the ETag names. */
export async function deleteSaved(saved_query_id: string, etag: string): Promise<void> {
  await call.DELETE(path, {
    params: { path: { saved_query_id }, header: { 'If-Match': etag } },
  })
}

/** Returns the request that stores a saved query as it is. */
export function requestOf(saved: SavedQuery): SavedQueryRequest {
  const { name, description, visibility, kind, body, parameters } = saved
  return { name, description, visibility, kind, body, parameters }
}

import { problem } from '../../../kernel/problem.ts'
import { parseProjectId } from '../../../model/project-id.ts'
import {
  type Columnar,
  ColumnarUnavailable,
  type QueryParams,
} from '../../../platform/columnar/index.ts'

/**
 * Converts an unavailable store to `store_unavailable`. Other errors are defects, kept as they are.
 */
export async function asStoreFailure<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (cause instanceof ColumnarUnavailable) {
      throw problem('store_unavailable', {
        detail: 'The columnar store is unavailable. Try again shortly.',
        retry_after_s: 1,
        cause,
      })
    }
    throw cause
  }
}

/**
 * Runs one SELECT over the rows of a project, with `project` bound. Rejects like the ports of the
 * stores. A signal stops the statement in the store, and rejects with the signal's reason.
 */
export type Read = <Row>(
  project_id: string,
  sql: string,
  params: QueryParams,
  signal?: AbortSignal,
) => Promise<Row[]>

/** Opens the reads of a store. */
export function reader(columnar: Pick<Columnar, 'ofProject'>): Read {
  return async <Row>(...[project_id, sql, params, signal]: Parameters<Read>): Promise<Row[]> => {
    const ofProject = columnar.ofProject(parseProjectId(project_id))
    if (signal === undefined) return asStoreFailure(ofProject.query<Row>(sql, params))
    return (await asStoreFailure(ofProject.read<Row>(sql, params, { signal }))).rows
  }
}

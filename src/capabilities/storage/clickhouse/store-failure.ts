import { problem } from '../../../kernel/problem.ts'
import {
  type Columnar,
  ColumnarUnavailable,
  type QueryParams,
} from '../../../platform/columnar/index.ts'

/** What callers have to tell apart: the store is away (retry), or anything else (a defect). */
export async function asStoreFailure<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (cause instanceof ColumnarUnavailable) {
      throw problem('store_unavailable', {
        detail: 'The columnar store is out of reach; try again shortly.',
        retry_after_s: 1,
        cause,
      })
    }
    throw cause
  }
}

/** Runs one SELECT; rejects as the ports of the stores say. */
export type Read = <Row>(sql: string, params: QueryParams) => Promise<Row[]>

export function reader(columnar: Columnar): Read {
  return (sql, params) => asStoreFailure(columnar.query(sql, params))
}

import { problem } from '../../../kernel/problem.ts'
import { BlobsUnavailable } from '../../../platform/blobs/index.ts'
import { ColumnarUnavailable } from '../../../platform/columnar/index.ts'

/** Says in the words of the API which store is away; other errors go on as they are. */
export async function asArchiveFailure<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (cause instanceof ColumnarUnavailable) throw away('The columnar store', cause)
    if (cause instanceof BlobsUnavailable) throw away('The store of archives (blobs)', cause)
    throw cause
  }
}

function away(store: string, cause: Error) {
  const detail = `${store} is out of reach; try again shortly.`
  return problem('store_unavailable', { detail, retry_after_s: 1, cause })
}

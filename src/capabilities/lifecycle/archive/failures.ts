import { problem } from '../../../kernel/problem.ts'
import { BlobsUnavailable } from '../../../platform/blobs/index.ts'
import { ColumnarUnavailable } from '../../../platform/columnar/index.ts'

/** Turns an outage of a store into `store_unavailable`; other errors are rethrown unchanged. */
export async function asArchiveFailure<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (cause instanceof ColumnarUnavailable) throw unavailable('The columnar store', cause)
    if (cause instanceof BlobsUnavailable) throw unavailable('The blob store of archives', cause)
    throw cause
  }
}

function unavailable(store: string, cause: Error) {
  const detail = `${store} is unavailable; try again shortly.`
  return problem('store_unavailable', { detail, retry_after_s: 1, cause })
}

/**
 * Waits until both promises have settled, then rejects if one of them did: after a failure, the
 * other one must not still be running.
 */
export async function settleBoth<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([first, second])
  return Promise.all([first, second])
}

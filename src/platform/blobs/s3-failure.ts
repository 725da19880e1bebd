import { Readable } from 'node:stream'
import { S3ServiceException } from '@aws-sdk/client-s3'
import { BlobMissing, BlobsUnavailable } from './contract.ts'

/**
 * Runs a request and translates its error. Messages of the SDK may quote headers, so only the name
 * of the error and the status are kept.
 */
export async function callS3<T>(
  step: string,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  try {
    signal?.throwIfAborted()
    return await work()
  } catch (cause) {
    signal?.throwIfAborted()
    throw s3Failure(step, cause)
  }
}

/** Returns whether an error means that the object does not exist. */
export function isMissing(error: unknown): error is BlobMissing {
  return error instanceof BlobMissing
}

/** Returns the stream of a response with translated errors. */
export function translateStreamErrors(
  body: Readable,
  name: string,
  signal: AbortSignal | undefined,
): Readable {
  return Readable.from(translateChunks(body, name, signal), { objectMode: false })
}

async function* translateChunks(body: Readable, name: string, signal: AbortSignal | undefined) {
  const stop = () => body.destroy()
  signal?.addEventListener('abort', stop, { once: true })
  try {
    for await (const chunk of body) yield chunk as Uint8Array
    signal?.throwIfAborted()
  } catch (cause) {
    signal?.throwIfAborted()
    throw s3Failure(`read ${name}`, cause)
  } finally {
    signal?.removeEventListener('abort', stop)
    body.destroy()
  }
}

function s3Failure(step: string, cause: unknown): Error {
  if (!(cause instanceof Error)) return new BlobsUnavailable(`the bucket of blobs: ${step}`)
  if (cause instanceof S3ServiceException) {
    const status = cause.$metadata.httpStatusCode
    if (status === 404 && cause.name !== 'NoSuchBucket' && cause.name !== 'NoSuchUpload') {
      return new BlobMissing(`there is no blob: ${step}`)
    }
    return new BlobsUnavailable(`the bucket of blobs: ${step}: ${cause.name} (${status})`)
  }
  const code = 'code' in cause ? ` ${String(cause.code)}` : ''
  return new BlobsUnavailable(`the bucket of blobs: ${step}: ${cause.name}${code}`)
}

/** Returns the options of the SDK that pass on a signal. */
export function sendOptions(signal: AbortSignal | undefined): { abortSignal?: AbortSignal } {
  return signal === undefined ? {} : { abortSignal: signal }
}

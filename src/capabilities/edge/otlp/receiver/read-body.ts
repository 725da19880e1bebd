import type { Readable } from 'node:stream'
import { problem } from '../../../../kernel/problem.ts'
import { type BodyBytes, tooLarge } from './inflight-bytes.ts'

/** The client closed the connection before its request was whole; there is nobody to answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone'
}

/** A request of HTTP/1.1 or a stream of HTTP/2; `aborted` once the client took it back. */
export type BodySource = Readable & { readonly aborted: boolean }

export type BodyLimits = {
  bytes_max: number
  idle_timeout_ms: number
  /** Sees each piece as it comes; what it throws refuses the request. */
  inspect?: (piece: Buffer) => void
}

/**
 * Reads a request's body to its end; nobody may look at it after `held` is released. Rejects with
 * `body_too_large` at the first byte too many, `overloaded` when there is no room,
 * `request_timeout` after `idle_timeout_ms` of silence, and ClientGone.
 */
export function readBody(
  request: BodySource,
  limits: BodyLimits,
  held: BodyBytes,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (request.destroyed) return reject(new ClientGone('the client left before its request came'))
    const chunks: Buffer[] = []
    let length = 0
    const stop = (error: unknown) => {
      clearTimeout(timer)
      request.off('data', take)
      request.off('end', end)
      request.off('close', gone)
      reject(error)
    }
    const take = (chunk: Buffer) => {
      timer.refresh()
      length += chunk.length
      if (length > limits.bytes_max) return stop(tooLarge(limits.bytes_max))
      try {
        limits.inspect?.(chunk)
        held.take(chunk.length)
      } catch (error) {
        return stop(error)
      }
      chunks.push(chunk)
    }
    const end = () => {
      // HTTP/2 ends the stream of a call that was cancelled, too.
      if (request.aborted) return gone()
      clearTimeout(timer)
      request.off('close', gone)
      resolve(held.joined(chunks, length))
    }
    const gone = () => stop(new ClientGone('the client left in the middle of its request'))
    const late = () => stop(silent(limits.idle_timeout_ms))
    const timer = setTimeout(late, limits.idle_timeout_ms)
    request.on('data', take)
    request.on('end', end)
    request.on('close', gone)
    request.on('error', () => undefined)
  })
}

function silent(idle_timeout_ms: number): Error {
  const detail = `no byte of the request came for ${idle_timeout_ms} ms`
  return problem('request_timeout', { detail })
}

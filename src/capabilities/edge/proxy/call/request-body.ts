import { type Problem, problem } from '../../../../kernel/problem.ts'
import type { Call } from './call.ts'

/**
 * Reads the body of a call to its end, then calls `complete` with it in `call.requestBody`; calls
 * `refused` when it is longer than the settings allow. When the client leaves, neither is called.
 */
export function readBody(
  call: Call,
  on: { complete: () => void; refused: (fault: Problem) => void },
): void {
  const { request, services } = call
  const { body_bytes_max, body_bytes_inflight_max } = services.settings
  const stop = (fault: Problem) => {
    request.off('data', take)
    request.off('end', end)
    on.refused(fault)
  }
  const take = (chunk: Buffer) => {
    call.requestBytes += chunk.length
    services.bodyBytesInFlight += chunk.length
    if (call.requestBytes > body_bytes_max) stop(bodyTooLarge(body_bytes_max))
    else if (services.bodyBytesInFlight > body_bytes_inflight_max) stop(overloaded())
    else call.bodyChunks.push(chunk)
  }
  const end = () => {
    const [only] = call.bodyChunks
    call.requestBody = call.bodyChunks.length === 1 && only ? only : Buffer.concat(call.bodyChunks)
    call.bodyChunks = []
    call.requestComplete = true
    on.complete()
  }
  request.on('data', take)
  request.on('end', end)
}

/** The refusal of a body that is, or is declared to be, longer than `bytes_max`. */
export function bodyTooLarge(bytes_max: number): Problem {
  return problem('body_too_large', { detail: `the body is longer than ${bytes_max} bytes` })
}

/** The refusal of a call that would take more than the proxy may hold. */
export function overloaded(): Problem {
  return problem('overloaded', {
    detail: 'too many calls are in flight; try again',
    retry_after_s: 1,
  })
}

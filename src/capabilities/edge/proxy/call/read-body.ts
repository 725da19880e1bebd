import { type Problem, problem } from '../../../../kernel/problem.ts'
import type { Call } from './call.ts'

/**
 * Reads the request of a call to its end into `call.body`, then calls `complete`. Calls `refused`
 * instead when it is longer than the settings allow, and neither when the client leaves.
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
    services.bodyBytesInFlight += chunk.length
    if (call.body.count(chunk) > body_bytes_max) stop(bodyTooLarge(body_bytes_max))
    else if (services.bodyBytesInFlight > body_bytes_inflight_max) stop(overloaded())
    else call.body.keep(chunk)
  }
  const end = () => {
    call.body.complete()
    on.complete()
  }
  request.on('data', take)
  request.on('end', end)
}

/** Returns the refusal of a body that is, or is declared to be, longer than `bytes_max`. */
export function bodyTooLarge(bytes_max: number): Problem {
  return problem('body_too_large', { detail: `the body is longer than ${bytes_max} bytes` })
}

/** Returns the refusal of a call that would exceed what the proxy may hold. */
export function overloaded(): Problem {
  return problem('overloaded', {
    detail: 'too many calls are in flight; try again',
    retry_after_s: 1,
  })
}

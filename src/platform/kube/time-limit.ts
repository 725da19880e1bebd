/** A signal that aborts when somebody else's does, or when the time is up. */
export type TimeLimit = {
  signal: AbortSignal
  /** From now on just the other signal counts: for an answer that goes on for long. */
  stopClock(): void
  /** Lets go of both. */
  end(): void
}

/**
 * Bounds one request. `AbortSignal.any` with a signal that lives as long as the process would keep
 * a listener for each request.
 */
export function timeLimit(limit_ms: number, outer: AbortSignal | undefined): TimeLimit {
  const controller = new AbortController()
  const abort = () => controller.abort(outer?.reason)
  if (outer?.aborted) abort()
  outer?.addEventListener('abort', abort, { once: true })
  const timer = setTimeout(
    () => controller.abort(new Error(`no answer within ${limit_ms} ms`)),
    limit_ms,
  )
  const stopClock = () => clearTimeout(timer)
  return {
    signal: controller.signal,
    stopClock,
    end: () => {
      stopClock()
      outer?.removeEventListener('abort', abort)
    },
  }
}

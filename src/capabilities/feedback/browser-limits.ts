import { createHmac } from 'node:crypto'
import { traceIdFrom } from '../../kernel/ids.ts'
import {
  type Caller,
  createRateLimiter,
  headersFrom,
  type RateLimiter,
} from '../../platform/http/index.ts'

/** A call with a browser key. */
type BrowserCall = {
  caller: Caller
  /** The end user that the page names. Not verified. */
  user_id: string | undefined
  /** Network of the client. */
  network: string
  now_ms: number
}

/** Limits the calls of end users with browser keys. */
export type BrowserLimits = {
  /** Counts a call. Throws `rate_limited` with `Retry-After` and `RateLimit-*`. */
  take(call: BrowserCall): void
}

/** A browser call about a task. */
type TaggedCall = { project_id: string; task_id: string; network: string }

/** Returns a tag by which the items of a task from one network can be counted, 0–32,767. */
export type NetworkTags = (call: TaggedCall) => number

/**
 * Creates the tags. They show no address: a tag is keyed, is another one for each task, and has only
 * 15 bits, so that many networks share it.
 */
export function createNetworkTags(secret_key: string): NetworkTags {
  return ({ project_id, task_id, network }) => {
    // A trace id has several spellings, which name one task.
    const task = traceIdFrom(task_id) ?? task_id
    const about = JSON.stringify(['network of feedback', project_id, task, network])
    return createHmac('sha256', secret_key).update(about).digest().readUInt16BE() >> 1
  }
}

/** Assumed users of one network, such as an office. They multiply the limit of a network. */
const usersOfNetwork = 10

/**
 * Creates the limits of one process: n pods allow up to n times the calls. A page can name any
 * user, so each network has a limit too: the calls of ten users. The calls of a network that name
 * no user count as the calls of one user.
 */
export function createBrowserLimits(): BrowserLimits {
  const limiters = new Map<number, RateLimiter>()
  const limiterOf = (per_minute: number) => {
    const limiter = limiters.get(per_minute) ?? createRateLimiter(per_minute)
    limiters.set(per_minute, limiter)
    return limiter
  }
  return {
    take: ({ caller, user_id, network, now_ms }) => {
      if (caller.browser === undefined) return
      const { user_rate_per_minute } = caller.browser
      const limits = [
        { name: ['network', network], per_minute: user_rate_per_minute * usersOfNetwork },
        {
          name: user_id === undefined ? ['anonymous', network] : ['user', user_id],
          per_minute: user_rate_per_minute,
        },
      ]
      for (const { name, per_minute } of limits) {
        const id = JSON.stringify([caller.id, ...name])
        const decision = limiterOf(per_minute).take(id, now_ms)
        if (!decision.allowed) throw decision.fault.withHeaders(headersFrom(decision.headers))
      }
    },
  }
}

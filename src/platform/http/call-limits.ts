import { hash } from 'node:crypto'
import { BoundedCache } from '../../kernel/bounded-cache.ts'
import type { Metrics } from '../telemetry/index.ts'
import { createRateLimiter, type RateDecision, type RateLimiter } from './rate-limit.ts'
import type { Caller } from './route-access.ts'

/** Limits in calls per minute and process; 0 turns a limit off. */
export type CallLimitSettings = {
  /** Maximum API calls of a user, service account or key. */
  rate_per_minute_max: number
  /** Maximum API calls of a Kubernetes operator; by default, that of other callers. */
  operator_rate_per_minute_max?: number
  /** Maximum calls of a client network that were not authorised; off by default. */
  anonymous_rate_per_minute_max?: number
}

/** A call before any check: its network, and its credentials as sent, if any. */
export type EnteringCall = { network: string; credentials: string | undefined }

/** A call that was counted. `caller` is empty until a caller of the API is known. */
export type CountedCall = {
  readonly network: string
  readonly credential: string | undefined
  caller: string
  is_counted_by_network: boolean
  decision: RateDecision
}

/** Maximum credentials of authorised calls that are remembered, as hashes. */
const credentials_max = 10_000

/** Time for which credentials count as authorised after their last authorised call. */
const remembered_ms = 10 * 60_000

/**
 * Limits the calls of a server: the calls of each authorised caller, and the unauthorised calls of
 * each client network. A call with unknown credentials counts for its network before the
 * credentials are checked, so that concurrent guesses count. An authorised call is then subtracted.
 * Credentials that were authorised before are not refused because of other clients in their
 * network.
 */
export class CallLimits {
  readonly #callers: RateLimiter
  readonly #operators: RateLimiter
  readonly #networks: RateLimiter
  readonly #authorised = new BoundedCache<string, { caller: string; at_ms: number }>(
    credentials_max,
  )
  readonly #limited: (by: 'caller' | 'network') => void

  constructor(settings: CallLimitSettings, metrics: Metrics) {
    const { rate_per_minute_max, anonymous_rate_per_minute_max = 0 } = settings
    const operators_max = settings.operator_rate_per_minute_max ?? rate_per_minute_max
    this.#callers = createRateLimiter(rate_per_minute_max, { subject: 'the caller' })
    this.#operators = createRateLimiter(operators_max, { subject: 'the operator' })
    this.#networks = createRateLimiter(anonymous_rate_per_minute_max, {
      subject: 'your network, without valid credentials,',
    })
    const counter = metrics.counter({
      name: 'looptrace_http_rate_limited_total',
      help: 'Calls that were refused because a caller or a network was over its limit.',
      labels: ['by'],
    })
    this.#limited = (by) => counter.inc({ by })
  }

  /** Counts a call of the API for the caller of its credentials, or for its network. */
  enter(call: EnteringCall, now_ms: number): CountedCall {
    const credential = hashOf(call)
    const caller = this.#callerOf(credential, now_ms)
    if (caller === undefined || caller === '') {
      return this.#enterUnknown({ ...call, credential }, caller !== undefined, now_ms)
    }
    const decision = this.#takeCaller(caller, now_ms)
    return { network: call.network, credential, caller, is_counted_by_network: false, decision }
  }

  /** Counts a call of a raw route, which limits its callers itself. */
  enterRaw(call: EnteringCall, now_ms: number): CountedCall {
    const credential = hashOf(call)
    const isKnown = this.#callerOf(credential, now_ms) !== undefined
    return this.#enterUnknown({ ...call, credential }, isKnown, now_ms)
  }

  /** Notes that the credentials of a call are valid. Raw routes have no `caller`. */
  authorise(call: CountedCall, now_ms: number, caller?: Caller): RateDecision {
    if (call.is_counted_by_network) this.#networks.giveBack(call.network, now_ms)
    call.is_counted_by_network = false
    const name = caller === undefined ? '' : nameOf(caller)
    if (call.credential !== undefined) {
      const known = name === '' ? this.#authorised.get(call.credential)?.caller : name
      this.#authorised.set(call.credential, { caller: known ?? '', at_ms: now_ms })
    }
    if (name === '' || name === call.caller) return call.decision
    call.caller = name
    call.decision = this.#takeCaller(name, now_ms)
    return call.decision
  }

  /** Counts a call for its network when its credentials are no longer valid. */
  refuse(call: CountedCall, now_ms: number): void {
    if (call.credential !== undefined) this.#authorised.delete(call.credential)
    if (call.is_counted_by_network) return
    this.#networks.take(call.network, now_ms)
    call.is_counted_by_network = true
  }

  #enterUnknown(
    { network, credential }: { network: string; credential: string | undefined },
    isKnown: boolean,
    now_ms: number,
  ): CountedCall {
    const decision = this.#networks.take(network, now_ms)
    const counted = { network, credential, caller: '', is_counted_by_network: decision.allowed }
    if (decision.allowed || isKnown) {
      return { ...counted, decision: { allowed: true, headers: decision.headers } }
    }
    this.#limited('network')
    return { ...counted, decision }
  }

  #takeCaller(name: string, now_ms: number): RateDecision {
    const limiter = name.startsWith('operator ') ? this.#operators : this.#callers
    const decision = limiter.take(name, now_ms)
    if (!decision.allowed) this.#limited('caller')
    return decision
  }

  #callerOf(credential: string | undefined, now_ms: number): string | undefined {
    const known = credential === undefined ? undefined : this.#authorised.get(credential)
    return known === undefined || now_ms - known.at_ms > remembered_ms ? undefined : known.caller
  }
}

function nameOf({ kind, id }: Caller): string {
  return `${kind} ${id}`
}

function hashOf({ credentials }: EnteringCall): string | undefined {
  if (credentials === undefined) return undefined
  return hash('sha256', credentials, 'base64url')
}

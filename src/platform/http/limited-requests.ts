import type { FastifyReply, FastifyRequest } from 'fastify'
import { toClientNetwork } from '../../kernel/client-network.ts'
import type { Problem } from '../../kernel/problem.ts'
import type { Clock } from '../../kernel/time.ts'
import type { CallLimits, CountedCall } from './call-limits.ts'
import { credentialsOf } from './client-of-request.ts'
import {
  createRateLimiter,
  headersFrom,
  type RateDecision,
  type RateLimiter,
} from './rate-limit.ts'
import type { RawRoute, Route } from './route.ts'
import type { Caller } from './route-access.ts'

/** Applies the limits to requests of the API. `enter` and `authorise` throw `rate_limited`. */
export type LimitedRequests = {
  /** Counts a request before any check. `route` is undefined for unknown paths. */
  enter(route: Route | RawRoute | undefined, request: FastifyRequest, reply: FastifyReply): void
  /** Counts a request for its caller, and for the caller's limit of the route. */
  authorise(route: Route, request: FastifyRequest, reply: FastifyReply, caller: Caller): void
  /** Notes the error of a request: refused credentials count for the network. */
  fail(request: FastifyRequest, fault: Problem): void
}

/**
 * Creates the limits of the requests of a server. Routes where secrets could be guessed have their
 * own limit for each network, and no other.
 */
export function limitRequests(
  routes: readonly (Route | RawRoute)[],
  limits: CallLimits,
  clock: Clock,
): LimitedRequests {
  const calls = new WeakMap<FastifyRequest, CountedCall>()
  const ownLimits = new Map<Route | RawRoute, RateLimiter>()
  const callerLimits = new Map<Route | RawRoute, RateLimiter>()
  for (const route of routes) {
    const { rate_per_minute_max: own_max } = route
    if (own_max !== undefined) {
      ownLimits.set(route, createRateLimiter(own_max, { subject: 'your network' }))
    }
    const caller_max = route.kind === 'api' ? route.caller_rate_per_minute_max : undefined
    if (caller_max !== undefined) {
      callerLimits.set(route, createRateLimiter(caller_max, { subject: 'the caller' }))
    }
  }
  return {
    enter(route, request, reply) {
      const network = toClientNetwork(request.ip)
      const ownLimit = route === undefined ? undefined : ownLimits.get(route)
      if (ownLimit !== undefined) return apply(ownLimit.take(network, clock.now_ms()), reply)
      const entering = { network, credentials: credentialsOf(request.headers) }
      const call = limits.enter(entering, clock.now_ms())
      calls.set(request, call)
      apply(call.decision, reply)
    },
    authorise(route, request, reply, caller) {
      const call = calls.get(request)
      if (call === undefined) return
      const known = call.caller
      const decision = limits.authorise(call, clock.now_ms(), caller)
      if (known !== call.caller) apply(decision, reply)
      const callerLimit = callerLimits.get(route)
      if (callerLimit === undefined) return
      apply(callerLimit.take(`${caller.kind} ${caller.id}`, clock.now_ms()), reply)
    },
    fail(request, { status }) {
      const call = calls.get(request)
      if (call !== undefined && status === 401) limits.refuse(call, clock.now_ms())
    },
  }
}

function apply(decision: RateDecision, reply: FastifyReply): void {
  const headers = headersFrom(decision.headers)
  if (!decision.allowed) throw decision.fault.withHeaders(headers)
  reply.headers(headers)
}

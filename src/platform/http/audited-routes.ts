import type { FastifyRequest } from 'fastify'
import { BoundedCache } from '../../kernel/bounded-cache.ts'
import { toClientNetwork } from '../../kernel/client-network.ts'
import type { Problem } from '../../kernel/problem.ts'
import type { Clock } from '../../kernel/time.ts'
import { AuditedCall, type AuditTrail, runInCall, scopeTrail } from '../audit/index.ts'
import type { Logger, Metrics } from '../telemetry/index.ts'
import { maskChange } from './mask-change.ts'
import type { Answer, Route, RouteAudit } from './route.ts'
import type { Caller } from './route-access.ts'

/** Returns which calls of a route are recorded: by default, each call of a method except GET. */
export function auditOf(route: Pick<Route, 'audit' | 'method'>): RouteAudit {
  return route.audit ?? (route.method === 'GET' ? 'refusals' : 'change')
}

/** Returns the words of a path that name the resource: `access/projects/api-keys`. */
function resourceTypeOf(url: string): string {
  const words = url.split('/').filter((step) => step !== '' && !step.startsWith('{'))
  return words.filter((word) => !/^(api|v\d|observability)$/.test(word)).join('/')
}

type Options = {
  trail: AuditTrail
  clock: Clock
  logger: Logger
  metrics: Metrics
  /** Maximum recorded refused calls of one actor per minute. Further calls are only counted. */
  refusals_per_minute_max: number
}

type AuditOptions = Omit<Options, 'trail' | 'refusals_per_minute_max'> & {
  audit?: AuditTrail
  audit_refusals_per_minute_max?: number
}

/** The steps of a call. The server calls each method when its step happens. */
type CallSteps = {
  /** The caller is authorised. */
  authorised(caller: Caller | null): void
  /** Runs the handler. The call is recorded when it resolves. */
  change(run: () => Promise<Answer<unknown>>): Promise<Answer<unknown>>
}

/** Records the calls of routes. */
export type AuditedRoutes = {
  run(
    route: Route,
    request: FastifyRequest,
    work: (steps: CallSteps) => Promise<Answer<unknown>>,
  ): Promise<Answer<unknown>>
  /** Records a refused or failed call. Never rejects. */
  refuse(route: Route | undefined, request: FastifyRequest, fault: Problem): Promise<void>
}

/** Leaves calls unrecorded, for servers without an audit trail. */
const unaudited: AuditedRoutes = {
  run: (_route, _request, work) => work({ authorised: () => undefined, change: (run) => run() }),
  refuse: async () => undefined,
}

const refusalsPerMinuteMax = 60

/** Limit of all anonymous calls together, as a multiple of the limit of one actor. */
const anonymousFactor = 10

/** Creates the recording of calls of a server. */
export function openAudits({
  audit,
  audit_refusals_per_minute_max: refusals_per_minute_max = refusalsPerMinuteMax,
  ...options
}: AuditOptions): AuditedRoutes {
  if (audit === undefined) return unaudited
  return auditRoutes({ ...options, trail: scopeTrail(audit), refusals_per_minute_max })
}

function auditRoutes(options: Options): AuditedRoutes {
  const { trail, clock, logger } = options
  const calls = new WeakMap<FastifyRequest, AuditedCall>()
  const limit = createRefusalLimit(options.refusals_per_minute_max)
  const anonymous = createRefusalLimit(options.refusals_per_minute_max * anonymousFactor)
  const unrecorded = options.metrics.counter({
    name: 'looptrace_audit_unrecorded_total',
    help: 'Refused calls whose audit record could not be stored.',
    labels: [],
  })
  const open = (route: Route, request: FastifyRequest) => {
    const call = new AuditedCall(trail, describe(route, request, clock))
    calls.set(request, call)
    return call
  }
  const take = (call: AuditedCall) => {
    const now_ms = clock.now_ms()
    if (!call.isAnonymous) return limit.take(call.countedBy, now_ms)
    const all = anonymous.take('all', now_ms)
    return all.allowed ? limit.take(call.countedBy, now_ms, all.suppressed) : all
  }
  const record = async (call: AuditedCall, fault: Problem) => {
    const { allowed, suppressed } = take(call)
    // If a change has a record and then fails, the failure is always recorded.
    if (!allowed && !call.isRecorded) return
    const outcome = fault.status >= 500 ? 'failed' : 'refused'
    try {
      await call.record(outcome, fault.code, suppressed)
    } catch (error) {
      if (trail.keep === undefined) throw error
      await call.keep(outcome, fault.code, suppressed)
    }
  }
  return {
    run: async (route, request, work) => {
      const kind = auditOf(route)
      if (kind === 'none') return unaudited.run(route, request, work)
      const call = open(route, request)
      const answer = await runInCall(call, () => work(stepsOf(call, route, request)))
      await call.whenReadStored()
      if (recordsChange(kind, call) && !call.isRecorded) await call.record('replayed')
      return answer
    },
    refuse: async (route, request, fault) => {
      if (route === undefined) return
      const call = calls.get(request)
      // A failed read is already in the list of reads, so its failure is recorded too.
      if (call?.isRead !== true && !isRecorded(route, fault)) return
      try {
        await record(call ?? open(route, request), fault)
      } catch (error) {
        unrecorded.inc({})
        const { id: request_id } = request
        logger.error(
          { err: error, request_id, action: route.id },
          'a refused call was not recorded',
        )
      }
    },
  }
}

function stepsOf(call: AuditedCall, route: Route, request: FastifyRequest): CallSteps {
  const kind = auditOf(route)
  return {
    authorised: (caller) => {
      if (caller === null) return
      call.noteActor(caller.kind, caller.id)
      if (caller.project_id !== '') call.noteProject(caller.project_id)
      if (kind === 'content') call.beginRead()
    },
    change: async (run) => {
      if (!recordsChange(kind, call)) return run()
      const { body } = request
      if (kind === 'change' && body !== undefined && body !== null) {
        call.noteChange({ after: maskChange(body, route.shown_once) })
      }
      const answer = await call.change(run)
      // No commit in PostgreSQL wrote the record: another store changed, or nothing did.
      if (!call.isRecorded) await call.record('succeeded')
      return answer
    },
  }
}

/** Returns whether a successful or failed call is recorded as a change. */
function recordsChange(kind: RouteAudit, call: AuditedCall): boolean {
  return kind === 'change' || (kind === 'people' && call.isByPerson)
}

/** Returns whether a refused call is recorded. Of reads: answers 401, 403 and 404. */
function isRecorded(route: Route, { status }: Problem): boolean {
  const kind = auditOf(route)
  if (kind === 'none') return false
  if (kind === 'change' || kind === 'people') return true
  return status === 401 || status === 403 || status === 404
}

function describe(route: Route, request: FastifyRequest, clock: Clock) {
  const params = Object.values((request.params ?? {}) as Record<string, string>)
  // The chain cannot erase an id, and applications may put personal data into ids of their data.
  // So the record names only the object that the data is about.
  const isOfPeople = auditOf(route) === 'people'
  const resource_id = isOfPeople ? params[0] : params.at(-1)
  const header = request.headers['user-agent']
  const user_agent = header === undefined ? null : header.slice(0, maxTextLength)
  return {
    recorded_at: new Date(clock.now_ms()).toISOString(),
    action: route.id,
    resource_type: cachedTypeOf(route.url),
    resource_id: resource_id?.slice(0, maxTextLength) ?? null,
    request_id: request.id,
    origin: { address: toClientNetwork(request.ip), user_agent },
    user_agent,
    is_collection: !isOfPeople && !route.url.endsWith('}'),
  }
}

/** Resource types by the URL of the route, one for each route. */
const resourceTypes = new Map<string, string>()

function cachedTypeOf(url: string): string {
  const known = resourceTypes.get(url) ?? resourceTypeOf(url)
  resourceTypes.set(url, known)
  return known
}

const maxTextLength = 256

/** Limits how many refused calls are recorded, so that a flood does not fill the store. */
type RefusalLimit = {
  /**
   * `suppressed` is the number of calls that were only counted since the last recorded call,
   * including the calls `carried` from another limit.
   */
  take(actor: string, now_ms: number, carried?: number): { allowed: boolean; suppressed: number }
}

const minute_ms = 60_000
const actors_max = 10_000

/** Creates a limit of recorded refused calls for each actor and minute. 0: no limit. */
export function createRefusalLimit(per_minute_max: number): RefusalLimit {
  const counts = new BoundedCache<string, { minute: number; taken: number; suppressed: number }>(
    actors_max,
  )
  return {
    take: (actor, now_ms, carried = 0) => {
      const minute = Math.floor(now_ms / minute_ms)
      const known = counts.get(actor)
      const count = known ?? { minute, taken: 0, suppressed: 0 }
      if (known === undefined) counts.set(actor, count)
      count.suppressed += carried
      if (count.minute !== minute) Object.assign(count, { minute, taken: 0 })
      if (per_minute_max > 0 && count.taken >= per_minute_max) {
        count.suppressed++
        return { allowed: false, suppressed: 0 }
      }
      count.taken++
      const { suppressed } = count
      count.suppressed = 0
      return { allowed: true, suppressed }
    },
  }
}

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger, Metrics } from '../telemetry/index.ts'
import { tagOf } from './tag-of-url.ts'

/** Status of a request whose client closed the connection, as in nginx. */
const clientLeft = 499

/** Creates the functions that meter and log the end of a request, each request once. */
export function createObserver({ metrics, logger }: { metrics: Metrics; logger: Logger }) {
  const requests = metrics.counter({
    name: 'looptrace_http_requests_total',
    help: 'Product API requests, by the tag of their operation and the status of the answer.',
    labels: ['tag', 'status'],
  })
  // Ten series for each label: by route and status, they were three quarters of all metrics.
  const seconds = metrics.histogram({
    name: 'looptrace_http_request_duration_seconds',
    help: 'Duration of product API requests, by the tag of their operation.',
    labels: ['tag'],
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10],
  })
  const observe = (request: FastifyRequest, reply: FastifyReply, status: number) => {
    const route = request.routeOptions.url ?? 'none'
    const tag = tagOf(route)
    requests.inc({ tag, status: String(status) })
    seconds.observe({ tag }, reply.elapsedTime / 1000)
    const about = { request_id: request.id, route, status, ms: reply.elapsedTime }
    logger.debug(about, status === clientLeft ? 'the client left' : 'answered')
  }
  const left = new WeakSet<FastifyRequest>()
  return {
    observe: (request: FastifyRequest, reply: FastifyReply) => {
      if (!left.has(request)) observe(request, reply, reply.statusCode)
    },
    /** Fastify calls no hook when the connection closes before the answer is written. */
    observeLeft: (request: FastifyRequest, reply: FastifyReply) => {
      reply.raw.once('close', () => {
        if (reply.raw.writableEnded) return
        left.add(request)
        observe(request, reply, clientLeft)
      })
    },
  }
}

/** Returns whether a request failed because its client closed the connection. */
export function hasLeft(error: unknown, { raw }: FastifyReply): boolean {
  const isAbort = error instanceof Error && error.name === 'AbortError'
  return isAbort && raw.closed && !raw.writableFinished
}

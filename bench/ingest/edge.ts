import { Client, credentials, Metadata } from '@grpc/grpc-js'
import { type Cluster, startCluster } from '../../test/support/cluster.ts'
import { busyTimeOf, usageOf } from '../process-usage.ts'
import { median } from '../rounds.ts'
import { pin } from '../service.ts'
import { httpSender } from './sender.ts'
import type { SpanShape } from './spans.ts'
import { bodiesOf, requestSpans } from './stages.ts'

/** Processor time per span of the whole `proxy` role, by ingest path; all threads. */
export type EdgeRow = {
  shape: SpanShape
  way: Way
  cpu_us: number
  spread: readonly [number, number]
  /** Share of the processor that other processes used meanwhile; also a median. */
  foreign_share: number
}

const ways = ['protobuf', 'json', 'gzip', 'grpc'] as const
type Way = (typeof ways)[number]

const slice_ms = 600
const slicesPerRound = 1
const connections = 4
const grpcMethod = '/opentelemetry.proto.collector.trace.v1.TraceService/Export'

/**
 * Loads the real `proxy` role (PostgreSQL, capture policies, nats-server with JetStream, answers
 * after the durable publish) with each ingest path in turn. The role is alone on processor 0.
 */
export async function measureEdge(
  shapes: Readonly<Partial<Record<SpanShape, readonly Way[]>>>,
  rounds: number,
): Promise<EdgeRow[]> {
  await using cluster = await startEdge()
  const sides: Side[] = []
  for (const [shape, asked] of Object.entries(shapes) as [SpanShape, readonly Way[]][]) {
    const bodies = bodiesOf(shape)
    for (const way of asked) {
      const sent = way === 'grpc' ? bodies.protobuf : bodies[way]
      const senders = Array.from({ length: connections }, () => senderOf(cluster, way, sent))
      sides.push({ shape, way, senders, cpu_us: [], foreign: [] })
    }
  }
  for (const side of sides) await slice(cluster, side)
  for (let round = 0; round < rounds * slicesPerRound; round += 1) {
    const at = round % sides.length
    for (const side of [...sides.slice(at), ...sides.slice(0, at)]) {
      const { cpu_us, foreign_share } = await slice(cluster, side)
      side.cpu_us.push(cpu_us)
      side.foreign.push(foreign_share)
    }
  }
  for (const side of sides) for (const sender of side.senders) sender.close()
  return sides.map(({ shape, way, cpu_us, foreign }) => ({
    shape,
    way,
    cpu_us: median(cpu_us),
    spread: [Math.min(...cpu_us), Math.max(...cpu_us)] as const,
    foreign_share: median(foreign),
  }))
}

type Side = {
  shape: SpanShape
  way: Way
  senders: NextSender[]
  cpu_us: number[]
  foreign: number[]
}

/**
 * The role is alone on processor 0; everything else shares this process's processor. Clusters of tests
 * let detection take all of the worker's time; here it has as little as is possible, or `detection_percent`.
 */
export async function startEdge(detection_percent = 1): Promise<Cluster> {
  await pin(process.pid, 1)
  const env = { LOOPTRACE_DETECTION_BUSY_PERCENT: String(detection_percent) }
  const cluster = await startCluster({ env })
  await cluster.worker.stop()
  await cluster.api.stop()
  await pin(cluster.proxy.pid, 0)
  await pin(cluster.postgres.server().pid, 1)
  return cluster
}

/** Sends one request after another. */
type NextSender = { send(): Promise<unknown>; close(): void }

function senderOf(cluster: Cluster, way: Way, bodies: readonly Buffer[]): NextSender {
  let at = 0
  const next = (): Buffer => bodies[at++ % bodies.length] ?? Buffer.alloc(0)
  const key = cluster.login.project_key
  if (way === 'grpc') return grpcSender(cluster.proxy.otlp_grpc_address, key, next)
  const sender = httpSender(cluster, way)
  return { send: () => sender.send(next()), close: () => sender.close() }
}

function grpcSender(address: string, key: string, next: () => Buffer): NextSender {
  const client = new Client(address, credentials.createInsecure(), {
    'grpc.max_send_message_length': -1,
    'grpc.use_local_subchannel_pool': 1,
  })
  const metadata = new Metadata()
  metadata.set('x-api-key', key)
  const asIs = (bytes: Buffer) => bytes
  return {
    send: () =>
      new Promise((resolve, reject) => {
        client.makeUnaryRequest(grpcMethod, asIs, asIs, next(), metadata, (error, answer) =>
          error ? reject(error) : resolve(answer),
        )
      }),
    close: () => client.close(),
  }
}

/** Sends load for a while, then empties the queue, so that it is never full. */
async function slice(
  cluster: Cluster,
  { senders }: Side,
): Promise<{ cpu_us: number; foreign_share: number }> {
  const { pid } = cluster.proxy
  const busy_ms = await busyTimeOf(0)
  const before = await usageOf(pid)
  const start_ms = performance.now()
  const end_ms = start_ms + slice_ms
  let spans = 0
  await Promise.all(
    senders.map(async (sender) => {
      while (performance.now() < end_ms) {
        await sender.send()
        spans += requestSpans
      }
    }),
  )
  const took_ms = performance.now() - start_ms
  const after = await usageOf(pid)
  const own_ms = after.cpu_ms - before.cpu_ms
  const foreign_ms = (await busyTimeOf(0)) - busy_ms - own_ms
  await cluster.nats.tell('$JS.API.STREAM.PURGE.looptrace_queue')
  return {
    cpu_us: (own_ms * 1000) / spans,
    foreign_share: Math.max(0, foreign_ms / took_ms),
  }
}

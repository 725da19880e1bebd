import { randomUUID } from 'node:crypto'
import { sleep } from '../../src/kernel/time.ts'
import { type Cluster, startCluster } from '../../test/support/cluster.ts'
import { scrape } from '../../test/support/metrics.ts'
import { treeUsage } from '../ingest/cluster-usage.ts'
import { liveRequests } from '../ingest/live-requests.ts'
import { startMockProvider } from '../mock-provider.ts'
import { Pace } from './pace.ts'

const minutes = Number(process.env['MINUTES'] ?? 60)
const spans_per_s = Number(process.env['SPANS_PER_S'] ?? 600)
const calls_per_s = Number(process.env['CALLS_PER_S'] ?? 20)
const readings = 10
const requestSpans = 120
const callsPerTask = 8
const settle_s = 120
/** As in the Dockerfile. */
const imageEnv = { MALLOC_MMAP_THRESHOLD_: '131072' }
/** As in the chart. */
const workerEnv = { NODE_OPTIONS: '--max-semi-space-size=16' }
const apiEnv = { NODE_OPTIONS: '--max-semi-space-size=8' }

/**
 * `npm run bench -- soak`: a cluster (proxy, API, worker, with their servers) takes spans, proxied calls
 * and reads at a steady pace for an hour, with the environment of an image and a chart. Prints the memory
 * of each process after each tenth (PSS, in MB), and compares what clients sent with what is stored.
 * MINUTES, SPANS_PER_S and CALLS_PER_S change the load. A process that loses memory shows it in the last
 * tenths, whatever the machine's speed.
 */
export async function printSoak(): Promise<void> {
  const provider = await startMockProvider(5)
  const env = { LOOPTRACE_OPENAI_BASE_URL: `${provider.url}/v1`, ...imageEnv }
  await using cluster = await startCluster({ env })
  await cluster.worker.stop()
  await cluster.worker.start(workerEnv)
  await cluster.api.stop()
  await cluster.api.start(apiEnv)
  const load = startLoad(cluster)
  console.table([await reading(cluster, load)])
  for (let tenth = 1; tenth <= readings; tenth += 1) {
    await sleep((minutes * 60_000) / readings)
    console.table([await reading(cluster, load)])
  }
  await load.stop()
  provider.close()
  console.table([await settled(cluster, load)])
}

type Load = { spans: Pace; calls: Pace; reads: Pace; stop(): Promise<void> }

function startLoad(cluster: Cluster): Load {
  const nextBody = liveRequests('agent_traces', requestSpans)
  const spans = new Pace(spans_per_s / requestSpans, () =>
    ask(cluster, `${cluster.proxy.base_url}/v1/traces`, {
      type: 'application/x-protobuf',
      body: new Uint8Array(nextBody(BigInt(Date.now()) * 1_000_000n)),
    }),
  )
  const calls = new Pace(calls_per_s, (count) => proxiedCall(cluster, count))
  const reads = new Pace(2, (count) => readPage(cluster, count))
  const paces = [spans, calls, reads]
  const stop = async () => void (await Promise.all(paces.map((pace) => pace.stop())))
  return { spans, calls, reads, stop }
}

let task = randomUUID()

function proxiedCall(cluster: Cluster, count: number): Promise<void> {
  if (count % callsPerTask === 0) task = randomUUID()
  const body = {
    model: 'bench-1',
    stream: count % 4 === 0,
    messages: [{ role: 'user', content: `Where is parcel ${count}? `.repeat(60) }],
  }
  return ask(cluster, `${cluster.proxy.base_url}/v1/chat/completions`, {
    type: 'application/json',
    body: JSON.stringify(body),
    headers: { authorization: 'Bearer sk-bench-0123456789abcdef', 'x-task-id': task },
  })
}

const pages = ['/api/v1/tasks?limit=50', '/api/v1/conversations?limit=50']

function readPage(cluster: Cluster, count: number): Promise<void> {
  return ask(cluster, `${cluster.api.base_url}${pages[count % pages.length]}`)
}

type Sent = {
  type: string
  body: string | Uint8Array<ArrayBuffer>
  headers?: Record<string, string>
}

/** Sends a request with the key of the project, and reads the whole answer. */
async function ask(cluster: Cluster, url: string, sent?: Sent): Promise<void> {
  const headers = { ...sent?.headers, 'x-api-key': cluster.login.project_key }
  const request =
    sent === undefined
      ? { headers }
      : {
          method: 'POST',
          headers: { ...headers, 'content-type': sent.type },
          body: sent.body,
        }
  const answer = await fetch(url, request)
  await answer.arrayBuffer()
  if (!answer.ok) throw new Error(`${url} was answered ${answer.status}`)
}

async function reading(cluster: Cluster, load: Load) {
  const { proxy, api, worker, clickhouse, postgres, nats } = cluster
  const roots = {
    proxy: proxy.pid,
    api: api.pid,
    worker: worker.pid,
    clickhouse: clickhouse.server().pid() ?? 0,
    postgres: postgres.server().pid,
    nats: nats.pid,
  }
  const memory = Object.entries(roots).map(async ([name, pid]) => {
    const { resident_bytes } = await treeUsage(pid)
    return [name, Math.round(resident_bytes / 1024 / 1024)] as const
  })
  return { ...Object.fromEntries(await Promise.all(memory)), ...(await counts(cluster, load)) }
}

async function counts(cluster: Cluster, { spans, calls, reads }: Load) {
  const value = await scrape(cluster.worker.management_url)
  return {
    spans: spans.done * requestSpans,
    calls: calls.done,
    reads: reads.done,
    failed: spans.failed + calls.failed + reads.failed,
    stored: value('looptrace_ingest_rows_stored_total', { kind: 'observations' }),
  }
}

/** Waits until everything sent is stored, and reads once more. */
async function settled(cluster: Cluster, load: Load) {
  const end_ms = performance.now() + settle_s * 1000
  while (performance.now() < end_ms) {
    const { spans, calls, stored } = await counts(cluster, load)
    if (stored >= spans + calls) break
    await sleep(1000)
  }
  return await reading(cluster, load)
}

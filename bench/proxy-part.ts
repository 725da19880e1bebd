import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Connection, closedLoop, question } from './load.ts'
import { startMockProvider, streamChunks } from './mock-provider.ts'
import { usageOf } from './process-usage.ts'
import type { ProxyFacts, Row } from './proxy-section.ts'
import { cpuPerRequest, firstByteLatency, median, type Scenario, type Target } from './rounds.ts'
import { pin, startProxyRole } from './service.ts'
import { measureStart, type StartUp } from './start-up.ts'
import { startTarget } from './target-process.ts'

const streams_total = 10_000
const tick_ms = 4
const startPort = 18_471

const scenarios = {
  small: { name: '1.9 KB', body_bytes: 1_900, streamed: false, connections: 32 },
  large: { name: '65 KB', body_bytes: 65_000, streamed: false, connections: 16 },
  stream: {
    name: `stream of ${streamChunks} chunks`,
    body_bytes: 1_900,
    streamed: true,
    connections: 48,
  },
} satisfies Record<string, Scenario>

/** The `proxy` role relative to the floor, its memory over streams, and the start of role `all`. */
export async function measureProxy(rounds: number): Promise<ProxyFacts> {
  await pin(process.pid, 1)
  const mock = await startMockProvider(tick_ms)
  const floorProcess = await startTarget('floor', { upstream: mock.url, cpu: 0 })
  const floor: Target = {
    name: 'floor',
    pid: floorProcess.pid,
    port: floorProcess.port,
    question: (body_bytes, streamed) => question(body_bytes, { streamed }),
  }
  const product = await startProxyRole(mock.url)
  const targets = [floor, product.target]
  const cpu = await cpuRows(targets, rounds)
  const provider: Target = { ...floor, name: 'provider', port: Number(new URL(mock.url).port) }
  const latency = await latencyRows([provider, ...targets], rounds)
  const memory = await memoryOverStreams(product.target)
  console.log(memory)
  await product.stop()
  await floorProcess.stop()
  mock.close()
  return { rounds, cpu, latency, memory, start: await startUps() }
}

async function cpuRows(targets: readonly Target[], rounds: number): Promise<Row[]> {
  const rows: Row[] = []
  for (const scenario of Object.values(scenarios)) {
    const [base, own] = await cpuPerRequest(targets, scenario, rounds)
    if (base === undefined || own === undefined) throw new Error('a target is missing')
    const row: Row = {
      scenario: scenario.name,
      floor: median(base.cpu_us),
      own: median(own.cpu_us),
      ratio: median(own.ratios),
      spread: [Math.min(...own.ratios), Math.max(...own.ratios)],
      dropped: own.dropped,
    }
    rows.push(row)
    console.log(row)
  }
  return rows
}

async function latencyRows(
  targets: readonly Target[],
  rounds: number,
): Promise<ProxyFacts['latency']> {
  const rows: ProxyFacts['latency'] = []
  const rates = [
    { ...scenarios.small, name: '1.9 KB at 200 a second', connections: 64, per_second: 200 },
    { ...scenarios.stream, name: 'streams at 20 a second', connections: 128, per_second: 20 },
  ]
  for (const rate of rates) {
    const medians = await firstByteLatency(targets, rate, { ...rate, rounds })
    const [provider = Number.NaN, floor = Number.NaN, own = Number.NaN] = [...medians.values()].map(
      (values) => median(values),
    )
    rows.push({ scenario: rate.name, provider, floor, own })
    console.log(rows.at(-1))
  }
  return rows
}

/** Resident memory of the proxy after every tenth of many streams. */
async function memoryOverStreams({ pid, port, question: ask }: Target): Promise<number[]> {
  const connections = Array.from({ length: 200 }, () => new Connection(port))
  const resident: number[] = []
  let done = 0
  while (done < streams_total) {
    done += await closedLoop(connections, ask(1_900, true), 1_000)
    if (done >= ((resident.length + 1) * streams_total) / 10) {
      resident.push((await usageOf(pid)).resident_bytes)
    }
  }
  for (const connection of connections) connection.close()
  return resident
}

/** The start of role `all` in an empty folder, and again in the same one. */
async function startUps(): Promise<{ clean: StartUp; again: StartUp }> {
  const directory = await mkdtemp(join(tmpdir(), 'looptrace-bench-'))
  const clean = await measureStart(join(directory, 'data'), startPort)
  const again = await measureStart(join(directory, 'data'), startPort)
  await rm(directory, { recursive: true })
  return { clean, again }
}

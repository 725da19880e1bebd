import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { Connection, closedLoop, question } from './load.ts'
import { startMockProvider, streamChunks } from './mock-provider.ts'
import { type Facts, performancePage, type Row } from './page.ts'
import { usageOf } from './process-usage.ts'
import { cpuPerRequest, firstByteLatency, median, type Scenario, type Target } from './rounds.ts'
import { pin, startProxyRole } from './service.ts'
import { measureStart } from './start-up.ts'
import { startTarget } from './target-process.ts'

/** Rounds of each scenario; `ROUNDS=3 make bench` for a quick look, whose result is not kept. */
const kept_rounds = 9
const rounds = Number(process.env['ROUNDS'] ?? kept_rounds)
const streams_total = 10_000
const tick_ms = 4

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

const cpu: Row[] = []
for (const scenario of Object.values(scenarios)) {
  const [base, own] = await cpuPerRequest(targets, scenario, rounds)
  if (base === undefined || own === undefined) throw new Error('a target is missing')
  const spread = [Math.min(...own.ratios), Math.max(...own.ratios)] as const
  const row: Row = {
    scenario: scenario.name,
    floor: median(base.cpu_us),
    own: median(own.cpu_us),
    ratio: median(own.ratios),
    spread,
    dropped: own.dropped,
  }
  cpu.push(row)
  console.log(row)
}

const latency: Facts['latency'] = []
const rates = [
  { ...scenarios.small, name: '1.9 KB at 200 a second', connections: 64, per_second: 200 },
  { ...scenarios.stream, name: 'streams at 20 a second', connections: 128, per_second: 20 },
]
for (const rate of rates) {
  const direct: Target = { ...floor, name: 'provider', port: Number(new URL(mock.url).port) }
  const medians = await firstByteLatency([direct, ...targets], rate, { ...rate, rounds })
  const [provider = Number.NaN, base = Number.NaN, own = Number.NaN] = [...medians.values()].map(
    (values) => median(values),
  )
  latency.push({ scenario: rate.name, provider, floor: base, own })
  console.log(latency.at(-1))
}

const memory = await memoryOverStreams(product.target)
console.log(memory)
await product.stop()
await floorProcess.stop()
mock.close()

const directory = await mkdtemp(join(tmpdir(), 'looptrace-bench-'))
const clean = await measureStart(join(directory, 'data'), 18_471)
const again = await measureStart(join(directory, 'data'), 18_471)
await rm(directory, { recursive: true })

const facts: Facts = {
  machine: `${cpus().length} × ${cpus()[0]?.model ?? '?'}, ${Math.round(totalmem() / 2 ** 30)} GiB`,
  date: new Date().toISOString().slice(0, 10),
  node: process.version,
  rounds,
  cpu,
  latency,
  memory,
  start: { clean, again },
}
if (rounds >= kept_rounds) await writeFile('docs/reference/performance.md', performancePage(facts))
console.log(performancePage(facts))

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

import { Connection, closedLoop, openLoop, type Question } from './load.ts'
import { busyTimeOf, usageOf } from './process-usage.ts'

/** A server under test, pinned to processor 0. */
export type Target = { name: string; pid: number; port: number; question: Questions }
type Questions = (body_bytes: number, streamed: boolean) => Question

export type Scenario = {
  name: string
  body_bytes: number
  streamed: boolean
  connections: number
}

/**
 * Processor time per request of each target and round, and the rounds disturbed by other processes.
 */
export type Measured = { name: string; cpu_us: number[]; ratios: number[]; dropped: number }

const slice_ms = 1_000
const warmUpMs = 2_000
/** A round is dropped if other processes used more of the processor. */
const foreignShareMax = 0.1

/**
 * Loads each target for a second in turn, in rotating order, with the first one as the floor: a
 * round's ratio compares adjacent seconds, so that drift of the machine does not affect it.
 */
export async function cpuPerRequest(
  targets: readonly Target[],
  scenario: Scenario,
  rounds: number,
): Promise<Measured[]> {
  const sides = targets.map((target) => ({
    target,
    connections: connect(target, scenario.connections),
    question: target.question(scenario.body_bytes, scenario.streamed),
    cpu_us: [] as number[],
  }))
  for (const side of sides) await closedLoop(side.connections, side.question, warmUpMs)
  let dropped = 0
  for (let round = 0; round < rounds; ) {
    const at = round % sides.length
    const figures = new Map<string, number>()
    let disturbed = false
    for (const side of [...sides.slice(at), ...sides.slice(0, at)]) {
      const figure = await slice(side)
      figures.set(side.target.name, figure.cpu_us)
      disturbed ||= figure.foreign > foreignShareMax
    }
    if (disturbed && dropped < rounds) {
      dropped += 1
      continue
    }
    for (const side of sides) side.cpu_us.push(figures.get(side.target.name) ?? Number.NaN)
    round += 1
  }
  for (const { connections } of sides) for (const connection of connections) connection.close()
  const floor = sides[0]?.cpu_us ?? []
  return sides.map(({ target, cpu_us }) => ({
    name: target.name,
    cpu_us,
    ratios: cpu_us.map((value, i) => value / (floor[i] ?? Number.NaN)),
    dropped,
  }))
}

/** Median time to the first content byte in each round, at a fixed rate of requests. */
export async function firstByteLatency(
  targets: readonly Target[],
  scenario: Scenario,
  about: { per_second: number; rounds: number },
): Promise<Map<string, number[]>> {
  const medians = new Map<string, number[]>(targets.map(({ name }) => [name, []]))
  for (let round = 0; round < about.rounds; round += 1) {
    const at = round % targets.length
    for (const target of [...targets.slice(at), ...targets.slice(0, at)]) {
      const connections = connect(target, scenario.connections)
      const latencies = await openLoop(
        connections,
        target.question(scenario.body_bytes, scenario.streamed),
        { per_second: about.per_second, duration_ms: slice_ms },
      )
      medians.get(target.name)?.push(median(latencies))
      for (const connection of connections) connection.close()
    }
  }
  return medians
}

/** The median; NaN for an empty list. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

function connect({ port }: Target, connections: number): Connection[] {
  return Array.from({ length: connections }, () => new Connection(port))
}

type Side = { target: Target; connections: Connection[]; question: Question }

async function slice(side: Side): Promise<{ cpu_us: number; foreign: number }> {
  const busy_ms = await busyTimeOf(0)
  const before = await usageOf(side.target.pid)
  const start_ms = performance.now()
  const answers = await closedLoop(side.connections, side.question, slice_ms)
  const after = await usageOf(side.target.pid)
  const own_ms = after.cpu_ms - before.cpu_ms
  const foreign_ms = (await busyTimeOf(0)) - busy_ms - own_ms
  return {
    cpu_us: (own_ms * 1000) / answers,
    foreign: foreign_ms / (performance.now() - start_ms),
  }
}

import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The harness's message to a target at its start. */
export type TargetOptions = { upstream: string }

/** A target's answer to `cpu`: its own processor time since its start, and its memory. */
export type TargetUsage = { cpu_us: number; resident_bytes: number }

/** Runs a target: a server that the harness starts as a process and asks for its usage. */
export function serveTarget(
  create: (options: TargetOptions) => Server | Promise<Server>,
): Promise<void> {
  return run(create)
}

async function run(create: (options: TargetOptions) => Server | Promise<Server>): Promise<void> {
  const server = await create({ upstream: process.argv[2] ?? '' })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1', () => {
    process.send?.({ port: (server.address() as AddressInfo).port })
  })
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    const usage: TargetUsage = {
      cpu_us: user + system,
      resident_bytes: process.memoryUsage.rss(),
    }
    process.send?.(usage)
  })
  process.on('disconnect', () => process.exit(0))
}

import { readFile } from 'node:fs/promises'

/** Processor time (user and system, all threads) and memory of a process, as the kernel counts. */
export type ProcessUsage = { cpu_ms: number; resident_bytes: number }

/** The kernel's tick on Linux: 100 a second. */
const tick_ms = 10
const page_bytes = 4096

/** Reads /proc of a running process. */
export async function usageOf(pid: number): Promise<ProcessUsage> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1')
  // The name in parentheses may contain spaces; fields are counted after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [user = 0, system = 0, resident = 0] = [fields[11], fields[12], fields[21]].map(Number)
  return { cpu_ms: (user + system) * tick_ms, resident_bytes: resident * page_bytes }
}

/** Time that one processor was busy since the machine started, with any process. */
export async function busyTimeOf(cpu: number): Promise<number> {
  const stat = await readFile('/proc/stat', 'latin1')
  const line = stat.split('\n').find((text) => text.startsWith(`cpu${cpu} `)) ?? ''
  const [user = 0, nice = 0, system = 0, , , interrupts = 0, soft = 0] = line
    .split(' ')
    .slice(1)
    .map(Number)
  return (user + nice + system + interrupts + soft) * tick_ms
}

/** Total memory of these processes, with shared pages counted once (PSS). */
export async function proportionalMemory(pids: readonly number[]): Promise<number> {
  let bytes = 0
  for (const pid of pids) {
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'latin1').catch(() => '')
    bytes += Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) * 1024
  }
  return bytes
}

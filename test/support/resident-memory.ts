import { readFile } from 'node:fs/promises'

/** Resident memory of a Linux process, in bytes. Rejects if it has ended. */
async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const kib = /^VmRSS:\s*(\d+) kB/m.exec(status)?.[1]
  if (kib === undefined) throw new Error(`process ${pid} has no VmRSS`)
  return Number(kib) * 1024
}

/** Watches processes; `stop` resolves with the growth of each since the start. */
export async function watchMemory(
  pids: Readonly<Record<string, number>>,
): Promise<{ stop(): Promise<Record<string, number>> }> {
  const names = Object.keys(pids)
  const read = () => Promise.all(Object.values(pids).map(residentBytes))
  const first = await read()
  const peak = [...first]
  const look = async () => {
    for (const [at, bytes] of (await read()).entries()) peak[at] = Math.max(peak[at] ?? 0, bytes)
  }
  const timer = setInterval(() => void look().catch(() => undefined), 100)
  return {
    stop: async () => {
      clearInterval(timer)
      await look()
      return Object.fromEntries(names.map((name, at) => [name, (peak[at] ?? 0) - (first[at] ?? 0)]))
    },
  }
}

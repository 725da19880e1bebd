/** Runs an action and measures the CPU time of its thread: other processes do not add to it. */
export function measureCpu<T>(action: () => T): { result: T; cpu_ms: number } {
  const before = process.threadCpuUsage()
  const result = action()
  const { user, system } = process.threadCpuUsage(before)
  return { result, cpu_ms: (user + system) / 1000 }
}

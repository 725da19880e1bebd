const ends = new Set<() => void>()
let isHooked = false

/**
 * Registers what ends with this process, such as a server or a folder that the test files of a worker
 * share. Returns how to take it back. vitest ends a worker by SIGTERM, which emits no `exit`.
 */
export function atEndOfProcess(end: () => void): () => void {
  ends.add(end)
  if (!isHooked) {
    isHooked = true
    process.once('exit', runAll)
    process.once('SIGTERM', () => {
      runAll()
      // Without a listener the signal ends the process.
      process.kill(process.pid, 'SIGTERM')
    })
  }
  return () => void ends.delete(end)
}

function runAll(): void {
  for (const end of ends) end()
  ends.clear()
}

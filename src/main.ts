#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'

/** Exit status after a second signal, which ends the process at once. */
const interruptedStatus = 130

/**
 * JavaScript's built-in errors are defects and are printed with their stack. Errors of Looptrace
 * and of the operating system are printed as their message.
 */
const defects = new Set(['Error', 'TypeError', 'RangeError', 'ReferenceError', 'SyntaxError'])

// Makes buffers count like other memory. Otherwise V8 marks the whole heap after every 64 MB of
// buffers, which took a third of the CPU at the edge, where bodies and frames are buffers.
setFlagsFromString('--external-memory-accounted-in-global-limit')
// Keeps compiled modules beside the sources: a start takes half the processor time. A folder that
// several users can write to, such as Node's default, would run what another user puts there. In a
// read-only installation, Node does without. NODE_COMPILE_CACHE overrides the folder.
enableCompileCache({ directory: fileURLToPath(new URL('../.cache/compiled', import.meta.url)) })

// Imported now, because only modules that are imported later are kept.
const { parseCommandLine } = await import('./roles/index.ts')
const { name, run } = parseCommandLine(process.argv.slice(2))
// Garbage may grow to 40 % of what lives before it is collected, by default to about three times as
// much: a worker under load had 770 MB of which 200 lived. In a proxy little lives, so that it would
// collect all the time.
if (name === 'worker') setFlagsFromString('--heap-growing-percent=40')
process.exitCode = await run(stopSignal()).catch(report)
await new Promise((resolve) => process.stdout.write('', resolve))
process.exit()

/** Aborts at the first SIGINT or SIGTERM. */
function stopSignal(): AbortSignal {
  const stopped = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stopped.signal.aborted) process.exit(interruptedStatus)
      stopped.abort(signal)
    })
  }
  return stopped.signal
}

function report(error: unknown): number {
  const { name: kind, message, stack } = error as Error
  const isDefect = defects.has(kind) && !('syscall' in (error as Error))
  process.stderr.write(`looptrace ${name}: ${isDefect ? stack : message}\n`)
  return 1
}

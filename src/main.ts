import { setFlagsFromString } from 'node:v8'
import { startOf } from './roles/index.ts'

const usage = `usage: looptrace [role]

roles:
  all             everything on this machine, on embedded servers (default)
  proxy           the data plane: completions
  api             the control plane: product APIs
  worker          writes what the queue brings
  migrate         brings both stores to the current schema, and makes the first login
  migrate check   says whether they are; exit status 1 when they are not
  dead-letters list              prints what could not be stored, one JSON object a line
  dead-letters replay <id>       puts one back into the queue; exit status 1 when it is not there
  dead-letters replay --all      puts all of them back

Settings are LOOPTRACE_* variables: docs/reference/configuration.md`

/** The second signal does not wait for anything. */
const interruptedStatus = 130
const usageStatus = 2

/** JavaScript's own errors are defects and need a stack; those of ours say what is wrong. */
const defects = new Set(['Error', 'TypeError', 'RangeError', 'ReferenceError', 'SyntaxError'])

// Buffers then count like other memory. Otherwise V8 marks the whole heap after every 64 MB of them,
// which took a third of the processor at the edge, whose bodies and frames are buffers.
setFlagsFromString('--external-memory-accounted-in-global-limit')

const words = process.argv.slice(2)
const name = words.join(' ') || 'all'
const start = startOf(words)

if (start === undefined) {
  const asked = ['help', '--help', '-h'].includes(name)
  const output = asked ? process.stdout : process.stderr
  output.write(`${asked ? '' : `looptrace: "${name}" is no role\n\n`}${usage}\n`)
  process.exitCode = asked ? 0 : usageStatus
} else {
  process.exitCode = await start(stopSignal()).catch(report)
}
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
  process.stderr.write(`looptrace ${name}: ${defects.has(kind) ? stack : message}\n`)
  return 1
}

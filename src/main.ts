import { ConfigError } from './platform/config/index.ts'
import { roles } from './roles/index.ts'

const usage = `usage: looptrace [role]

roles:
  all             everything on this machine, on embedded servers (default)
  proxy           the data plane: completions
  api             the control plane: product APIs
  worker          writes what the queue brings
  migrate         brings both stores to the current schema, and makes the first login
  migrate check   says whether they are; exit status 1 when they are not

Settings are LOOPTRACE_* variables: docs/reference/configuration.md`

/** The second signal does not wait for anything. */
const interruptedStatus = 130

const [name = 'all', ...rest] = process.argv.slice(2)
const start = roles.get([name, ...rest].join(' '))
if (start === undefined) {
  process.stderr.write(`${usage}\n`)
  process.exit(name === 'help' || name === '--help' ? 0 : 2)
}

try {
  const stopped = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stopped.signal.aborted) process.exit(interruptedStatus)
      stopped.abort(signal)
    })
  }
  process.exitCode = await start(stopped.signal)
} catch (error) {
  const known = error instanceof ConfigError
  process.stderr.write(`looptrace ${name}: ${known ? error.message : (error as Error).stack}\n`)
  process.exitCode = 1
}
process.exit()

import { setFlagsFromString } from 'node:v8'
import { type Command, outputOption, UsageError } from '../cli/index.ts'
import { loadConfig } from '../platform/config/index.ts'
import { type Running, StartStopped } from './running.ts'

const noOptions = { options: {}, words_min: 0, words_max: 0, synopsis: '' } as const

const keeping = {
  ...noOptions,
  statuses: { 0: 'It was done.', 1: 'It was not; the reason is printed.' },
}

const lettersAbout =
  'The queue is found by the settings of the role `all`. On one machine stop the service first: the\n' +
  'process that has the queue file has it for itself.'

/**
 * The roles, and what keeps their stores, by what stands on the command line. Each is imported when
 * it is started: a proxy that holds the worker's price table and the api's routes in memory pays for
 * them at every collection.
 */
export const roleCommands: readonly Command[] = [
  servingRole({
    words: 'all',
    summary: 'Everything on this machine, on embedded servers (default)',
    start: async (stop) => (await import('./all.ts')).startAll(loadConfig('all'), stop),
  }),
  servingRole({
    words: 'proxy',
    summary: 'The data plane: completions and OTLP',
    start: async (stop) => (await import('./proxy.ts')).startProxy(loadConfig('proxy'), stop),
  }),
  servingRole({
    words: 'api',
    summary: 'The control plane: product APIs',
    start: async (stop) => (await import('./api.ts')).startApi(loadConfig('api'), stop),
  }),
  servingRole({
    words: 'worker',
    summary: 'Writes what the queue brings, and does the jobs',
    start: async (stop) => (await import('./worker.ts')).startWorker(loadConfig('worker'), stop),
  }),
  servingRole({
    words: 'operator',
    summary: 'Follows the resources of a Kubernetes cluster',
    start: async (stop) => {
      keepHeapSmall()
      return (await import('./operator.ts')).startOperatorRole(loadConfig('operator'), stop)
    },
  }),
  {
    ...keeping,
    words: 'migrate',
    summary: 'Brings both stores to the current schema, and makes the first login',
    about: ['It takes a lock, can be repeated, and goes on where it was interrupted.'],
    examples: [{ command: 'looptrace migrate', about: 'before a new version starts' }],
    load: async () => {
      const { migrate } = await import('./migrate.ts')
      return () => migrate(loadConfig('migrate'))
    },
  },
  {
    ...keeping,
    words: 'migrate check',
    summary: 'Says whether the stores are at the current schema',
    synopsis: '[options]',
    about: ['Without --output it prints one JSON object a line, as the other keeping does.'],
    options: { output: { ...outputOption, about: 'How the answer is written.' } },
    examples: [
      { command: 'looptrace migrate check', about: 'in a script that waits for it' },
      { command: 'looptrace migrate check -o table', about: 'for people' },
    ],
    statuses: {
      0: 'Both are.',
      1: 'At least one is not; what is missing is printed.',
      2: 'The command line or a setting is wrong.',
      3: 'A store gives no answer.',
    },
    load: async () => (await import('./schema.ts')).checkSchema,
  },
  {
    ...keeping,
    words: 'migrate secret',
    summary: 'Mints the Secret that an installation starts with',
    about: ['The chart runs it in the cluster; what stands in the Secret already is kept.'],
    examples: [{ command: 'looptrace migrate secret', about: 'in a pod of the installation' }],
    load: async () => {
      const { migrateSecret } = await import('./migrate.ts')
      return () => migrateSecret(loadConfig('migrate'))
    },
  },
  {
    ...keeping,
    words: 'smoke-test',
    summary: 'Sends a completion and a span, and reads both back',
    about: ['`helm test` runs it. Settings: LOOPTRACE_SMOKE_*.'],
    examples: [{ command: 'looptrace smoke-test', about: 'against a running installation' }],
    load: async () => {
      const { trySmoke } = await import('./smoke-test.ts')
      return () => trySmoke(loadConfig('smoke-test'))
    },
  },
  {
    ...keeping,
    words: 'dead-letters list',
    summary: 'Prints what could not be stored, one JSON object a line',
    about: [lettersAbout],
    examples: [{ command: 'looptrace dead-letters list', about: 'all of them' }],
    load: async () => {
      const { listDeadLetters } = await import('./dead-letters.ts')
      return () => listDeadLetters(loadConfig('all'))
    },
  },
  {
    ...keeping,
    words: 'dead-letters replay',
    summary: 'Puts one of them, or all, back into the queue',
    synopsis: '<id> | --all',
    about: [lettersAbout],
    options: { all: { about: 'All of them.' } },
    words_max: 1,
    examples: [
      { command: 'looptrace dead-letters replay 019f5a3c', about: 'the one of that id' },
      { command: 'looptrace dead-letters replay --all', about: 'all of them' },
    ],
    statuses: {
      0: 'They are in the queue.',
      1: 'There is none of that id.',
      2: 'Neither is said.',
    },
    load: async () => {
      const { replayDeadLetter, replayDeadLetters } = await import('./dead-letters.ts')
      return async ({ words: [id], flag }) => {
        if (flag('all') === (id !== undefined)) throw new UsageError('expected <id> or --all')
        const config = loadConfig('all')
        return id === undefined ? replayDeadLetters(config) : replayDeadLetter(config, id)
      }
    },
  },
]

/** A role that serves until a signal stops it; `start` imports its modules. */
function servingRole({
  words,
  summary,
  start,
}: Pick<Command, 'words' | 'summary'> & {
  start: (stop: AbortSignal) => Promise<Running>
}): Command {
  return {
    words,
    summary,
    synopsis: '',
    about: ['Settings are LOOPTRACE_* variables: docs/reference/configuration.md.'],
    options: {},
    words_min: 0,
    words_max: 0,
    examples: [{ command: `looptrace ${words}`, about: 'until SIGTERM or Ctrl-C' }],
    statuses: {
      0: 'A signal stopped it.',
      1: 'It could not start or go on; the reason is printed.',
      130: 'A second signal ended it at once.',
    },
    load:
      async () =>
      (_asked, { stop }) =>
        untilStopped(stop, start),
  }
}

async function untilStopped(
  stop: AbortSignal,
  start: (stop: AbortSignal) => Promise<Running>,
): Promise<number> {
  const running = await start(stop).catch((error: unknown) => {
    if (error instanceof StartStopped) return undefined
    throw error
  })
  if (running === undefined) return 0
  const stopped = new Promise<void>((resolve) => {
    if (stop.aborted) resolve()
    stop.addEventListener('abort', () => resolve())
  })
  const failure = await Promise.race([stopped, running.failed])
  await running.stop()
  if (failure !== undefined) throw failure
  return 0
}

/**
 * Keeps the heap of a process small that is idle most of the time: V8 else lets its young generation
 * grow to over 100 MB while a thousand resources are read, and gives nothing of it back. Called
 * before the role's modules are loaded. Measured: 2 to 3 times less memory for a tenth more time.
 */
function keepHeapSmall(): void {
  setFlagsFromString('--optimize-for-size')
}

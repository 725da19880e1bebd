import type { Command } from '../cli/index.ts'
import { type Running, StartStopped } from './running.ts'

/** A role that serves until a signal stops it; `start` imports its modules. */
export function servingRole({
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

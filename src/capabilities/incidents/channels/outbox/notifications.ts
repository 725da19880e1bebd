import { sleep } from '../../../../kernel/time.ts'
import { pollingWakes, type Wakes } from '../../../../platform/relational/index.ts'
import { runInInstallation, runInProject } from '../../../../platform/tenancy/index.ts'
import { type AttemptPorts, attemptNext } from './attempt.ts'
import { findDueChannels } from './claim.ts'
import type { ChannelName } from './waiting-rows.ts'

export type NotificationsOptions = AttemptPorts & {
  settings: AttemptPorts['settings'] & SenderSettings
  /** Announcements of messages. Without them, it polls. */
  wakes?: Wakes | undefined
}

/** Limits of the sender of a process. */
type SenderSettings = {
  /** Concurrent attempts; one per channel. */
  attempts_max: number
  /** Concurrent attempts of a project, so that slow receivers of one do not delay others. */
  per_project_max: number
  /** How often an idle process polls for messages, with one statement. */
  poll_ms: number
  /** How long a stopping process waits for attempts. */
  stop_ms_max: number
}

export const defaultSenderSettings = {
  attempts_max: 16,
  per_project_max: 4,
  poll_ms: 1_000,
  stop_ms_max: 12_000,
  lease_ms: 12_000,
  messages_max: 50,
  ahead_ms: () => 0,
} as const

/** The running sender of a process. */
export type Notifications = {
  /** Looks for messages now, after a transaction that wrote some. */
  wake(): void
  /** Stops claiming messages, and waits for the attempts that run. */
  stop(): Promise<void>
}

/** Starts delivering the messages of the outbox. */
export function startNotifications(options: NotificationsOptions): Notifications {
  const { logger, settings } = options
  const stopping = new AbortController()
  const cutting = new AbortController()
  const waker = (options.wakes ?? pollingWakes()).waker('notifications')
  const running = new Map<string, { project_id: string; ended: Promise<void> }>()

  const begin = (target: ChannelName) => {
    const key = keyOf(target)
    const attempt = async () => {
      try {
        const attemptOne = () => attemptNext(target, options, cutting.signal)
        await runInProject(target.project_id, attemptOne)
        waker.ring()
      } catch (error) {
        if (cutting.signal.aborted) return
        logger.warn({ err: error, ...target }, 'an attempt to deliver messages failed; retrying')
        await sleep(settings.poll_ms, stopping.signal)
      } finally {
        running.delete(key)
      }
    }
    running.set(key, { project_id: target.project_id, ended: attempt() })
  }

  const work = async () => {
    while (!stopping.signal.aborted) {
      const begun = await beginDue(options, running, begin).catch((error: unknown) => {
        logger.warn({ err: error }, 'polling for messages failed')
        return 0
      })
      if (begun === 0) await waker.wait(settings.poll_ms, stopping.signal)
    }
  }
  const working = work()
  return {
    wake: () => waker.ring(),
    stop: async () => {
      stopping.abort()
      await working
      const attempts = Promise.all([...running.values()].map(({ ended }) => ended))
      const ended = new AbortController()
      await Promise.race([attempts, sleep(settings.stop_ms_max, ended.signal)])
      ended.abort()
      cutting.abort(new Error('the worker stops'))
      await attempts
    },
  }
}

type Running = ReadonlyMap<string, { project_id: string }>

/** Begins attempts of channels with due messages. Returns their number. */
async function beginDue(
  { db, settings }: NotificationsOptions,
  running: Running,
  begin: (target: ChannelName) => void,
): Promise<number> {
  const { attempts_max, per_project_max } = settings
  const free = attempts_max - running.size
  if (free <= 0) return 0
  const targets = await runInInstallation('due messages of all projects', () =>
    findDueChannels(db, {
      ahead_ms: settings.ahead_ms(),
      channels_max: attempts_max * 2,
      per_project_max: per_project_max * 2,
    }),
  )
  let begun = 0
  for (const target of targets) {
    if (begun >= free) break
    const ofProject = countOf(target.project_id, running)
    if (running.has(keyOf(target)) || ofProject >= per_project_max) continue
    begin(target)
    begun += 1
  }
  return begun
}

function countOf(project_id: string, running: Running): number {
  return [...running.values()].filter((one) => one.project_id === project_id).length
}

function keyOf({ project_id, channel_name }: ChannelName): string {
  return JSON.stringify([project_id, channel_name])
}

import { problem } from '../../../kernel/problem.ts'
import { Semaphore } from '../../../kernel/semaphore.ts'

export type ProjectSlotsOptions = {
  /** Queries of a project that run at one time in this process. */
  running_max: number
  /** Those that may wait; further ones are refused at once. */
  waiting_max: number
  /** How long one waits. */
  wait_ms_max: number
}

/** Limits the queries of each project that run at one time. */
export type ProjectSlots = {
  /** Throws `rate_limited` when no slot is free in time, and the signal's reason. */
  take<T>(about: { project_id: string; signal: AbortSignal }, work: () => Promise<T>): Promise<T>
}

/** See `ProjectSlots`; projects without queries take no memory. */
export function openProjectSlots(options: ProjectSlotsOptions): ProjectSlots {
  const { running_max, waiting_max } = options
  const projects = new Map<string, Semaphore>()
  const newSlots = () =>
    new Semaphore({
      permits_max: running_max,
      waiting: { max: waiting_max, refusal: () => refusal(running_max) },
    })
  return {
    take: async ({ project_id, signal }, work) => {
      const slots = projects.get(project_id) ?? newSlots()
      projects.set(project_id, slots)
      if (!slots.tryAcquire()) await acquireInTime(slots, signal, options)
      try {
        return await work()
      } finally {
        slots.release()
        if (slots.held === 0) projects.delete(project_id)
      }
    },
  }
}

/** Waits for a slot until the signal aborts or the time is over. */
async function acquireInTime(
  slots: Semaphore,
  signal: AbortSignal,
  { running_max, wait_ms_max }: ProjectSlotsOptions,
): Promise<void> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(refusal(running_max)), wait_ms_max)
  try {
    await slots.acquire(AbortSignal.any([signal, late.signal]))
  } finally {
    clearTimeout(timer)
  }
}

function refusal(running_max: number) {
  return problem('rate_limited', {
    detail: `${running_max} queries of this project run already`,
    retry_after_s: 1,
  })
}

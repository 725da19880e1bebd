import { problem } from '../../../kernel/problem.ts'
import { Semaphore } from '../../../kernel/semaphore.ts'

/** The limits of each project's slots, in this process. */
type ProjectSlotsOptions = {
  /** Maximum queries that run at one time. */
  running_max: number
  /** Maximum queries that wait; further ones are refused at once. */
  waiting_max: number
  /** Maximum wait of one query. */
  wait_ms_max: number
}

/** Limits the queries of each project that run at one time. */
export type ProjectSlots = {
  /**
   * Does work in a slot. Throws `rate_limited` if no slot frees up in time, or the signal's reason.
   */
  take<T>(about: { project_id: string; signal: AbortSignal }, work: () => Promise<T>): Promise<T>
}

/** Opens the slots of all projects. Projects without running queries take no memory. */
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

/** Waits for a slot until the signal aborts or the wait times out. */
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
    detail: `${running_max} queries of this project are already running. Try again shortly.`,
    retry_after_s: 1,
  })
}

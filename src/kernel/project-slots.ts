import { problem } from './problem.ts'
import { Semaphore } from './semaphore.ts'

/** Opens the slots of all projects. Projects without running work take no memory. */
export function openProjectSlots(options: ProjectSlotsOptions): ProjectSlots {
  const { running_max, waiting_max } = options
  const projects = new Map<string, Semaphore>()
  const newSlots = () =>
    new Semaphore({
      permits_max: running_max,
      waiting: { max: waiting_max, refusal: () => refusal(options) },
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

/** The limits of each project's slots, in this process. */
type ProjectSlotsOptions = {
  /** The work as a plural noun, for the message of a refusal. */
  work: string
  /** Maximum works of a project that run at one time. */
  running_max: number
  /** Maximum works that wait; further ones are refused at once. */
  waiting_max: number
  /** Maximum wait for a slot. */
  wait_ms_max: number
}

/** Limits the work of each project that runs at one time. */
export type ProjectSlots = {
  /**
   * Does work in a slot. Throws `rate_limited` if no slot frees up in time, or the signal's reason.
   */
  take<T>(about: { project_id: string; signal: AbortSignal }, work: () => Promise<T>): Promise<T>
}

/** Waits for a slot until the signal aborts or the wait times out. */
async function acquireInTime(
  slots: Semaphore,
  signal: AbortSignal,
  options: ProjectSlotsOptions,
): Promise<void> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(refusal(options)), options.wait_ms_max)
  try {
    await slots.acquire(AbortSignal.any([signal, late.signal]))
  } finally {
    clearTimeout(timer)
  }
}

function refusal({ running_max, work }: ProjectSlotsOptions) {
  return problem('rate_limited', {
    detail: `Limit reached: ${work} of a project at one time: ${running_max}. Try again shortly.`,
    retry_after_s: 1,
  })
}

import { problem } from './problem.ts'
import { openProjectSlots, type ProjectSlots } from './project-slots.ts'
import { Semaphore } from './semaphore.ts'

/** Maximum requests of a project that wait for a result at one time, in a process. */
export const maxProjectWaits = 16
/** Maximum requests of all projects that wait for a result at one time, in a process. */
export const maxProcessWaits = 64

/**
 * Opens the slots of requests that wait for the end of what they started. Each holds a connection
 * for up to a minute and reads its result four times a second. A request above a limit gets
 * `rate_limited` at once, before it starts anything. `work` names the waits as a plural noun.
 */
export function openWaitSlots(work: string): ProjectSlots {
  const limits = { running_max: maxProjectWaits, waiting_max: 0, wait_ms_max: 0 }
  const slots = openProjectSlots({ work, ...limits })
  const all = new Semaphore({
    permits_max: maxProcessWaits,
    waiting: { max: 0, refusal: () => refusal(work) },
  })
  return { take: (about, wait) => slots.take(about, () => all.run(wait)) }
}

function refusal(work: string) {
  return problem('rate_limited', {
    detail: `Limit reached: ${work} of all projects at one time: ${maxProcessWaits}. Try again shortly.`,
    retry_after_s: 1,
  })
}

import { problem } from '../../../kernel/problem.ts'
import { openProjectSlots, type ProjectSlots } from '../../../kernel/project-slots.ts'
import { Semaphore } from '../../../kernel/semaphore.ts'

/** Maximum requests of a project that wait for a result at one time, in a process. */
export const projectWaits_max = 16
/** Maximum requests of all projects that wait for a result at one time, in a process. */
export const processWaits_max = 64

/**
 * Opens the slots of requests with `async_mode: false`. Each holds a connection for up to a minute
 * and reads its run four times a second. A request above a limit gets `rate_limited` at once,
 * before it starts a run.
 */
export function openWaitSlots(): ProjectSlots {
  const work = 'waiting verifications'
  const limits = { running_max: projectWaits_max, waiting_max: 0, wait_ms_max: 0 }
  const slots = openProjectSlots({ work, ...limits })
  const all = new Semaphore({
    permits_max: processWaits_max,
    waiting: { max: 0, refusal: () => refusal(work) },
  })
  return { take: (about, wait) => slots.take(about, () => all.run(wait)) }
}

function refusal(work: string) {
  return problem('rate_limited', {
    detail: `Limit reached: ${work} of all projects at one time: ${processWaits_max}. Try again shortly.`,
    retry_after_s: 1,
  })
}

import { problem } from '../../../kernel/problem.ts'
import { sleep } from '../../../kernel/time.ts'

export type ProjectSlotsOptions = {
  /** Queries of a project that run at one time in this process. */
  running_max: number
  /** Those that may wait; further ones are refused at once. */
  waiting_max: number
  /** How long one waits. */
  wait_ms_max: number
}

/** Lets so many queries of each project run at one time. */
export type ProjectSlots = {
  /** Throws `rate_limited` when there is no place in time, and the signal's reason. */
  take<T>(about: { project_id: string; signal: AbortSignal }, work: () => Promise<T>): Promise<T>
}

type Project = { running: number; waiting: (() => void)[] }

/** See `ProjectSlots`; projects without queries take no memory. */
export function openProjectSlots(options: ProjectSlotsOptions): ProjectSlots {
  const projects = new Map<string, Project>()
  const leave = (project_id: string, project: Project) => {
    const next = project.waiting.shift()
    if (next) return next()
    project.running -= 1
    if (project.running === 0) projects.delete(project_id)
  }
  return {
    take: async ({ project_id, signal }, work) => {
      const project = projects.get(project_id) ?? { running: 0, waiting: [] }
      projects.set(project_id, project)
      if (project.running < options.running_max) project.running += 1
      else await turnIn(project, signal, options)
      try {
        return await work()
      } finally {
        leave(project_id, project)
      }
    },
  }
}

/** Who leaves hands its place over, so `running` stays as it is. */
async function turnIn(
  project: Project,
  signal: AbortSignal,
  { running_max, waiting_max, wait_ms_max }: ProjectSlotsOptions,
): Promise<void> {
  if (project.waiting.length >= waiting_max) throw refusal(running_max)
  const turn = Promise.withResolvers<'turn'>()
  const place = () => turn.resolve('turn')
  project.waiting.push(place)
  const over = new AbortController()
  const waited = sleep(wait_ms_max, AbortSignal.any([signal, over.signal]))
  const first = await Promise.race([turn.promise, waited.then(() => 'late' as const)])
  over.abort()
  if (first === 'turn') return
  const at = project.waiting.indexOf(place)
  // The turn may have come while the wait ended.
  if (at === -1) return
  project.waiting.splice(at, 1)
  signal.throwIfAborted()
  throw refusal(running_max)
}

function refusal(running_max: number) {
  return problem('rate_limited', {
    detail: `${running_max} queries of this project run already`,
    retry_after_s: 1,
  })
}

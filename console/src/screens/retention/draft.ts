import type { Fault } from '../../api/problem.ts'
import type { RetentionPolicy, RetentionPolicyRequest } from '../../api/schema.gen.d.ts'

/** The kinds of data with a number of days of their own, in the order of the table. */
export const kept = ['content', 'observations', 'events', 'traces'] as const
export type Kept = (typeof kept)[number]

type Texts = Record<Kept, string>

/**
 * A policy while it is edited. A number of days is a text. In `days`, empty means for ever, and for
 * content and events as long as observations. In an environment, empty means the value of `days`,
 * and `ever` means for ever.
 */
export type Draft = {
  days: Texts
  environments: { key: number; environment: string; days: Texts }[]
  archiveBeforeDelete: boolean
  archive: { after_days: string; schedule: string; enabled: boolean } | null
}

export const ever = 'for ever'
const days_max = 36_500

/** Returns the draft of a stored policy. Events that follow observations stay empty. */
export function draftOf(policy: RetentionPolicy): Draft {
  const { days, environments, archive } = policy
  const textOf = (value: number | null | undefined) => (value == null ? '' : String(value))
  return {
    days: {
      content: textOf(days.content),
      observations: textOf(days.observations),
      events: days.events === days.observations ? '' : textOf(days.events),
      traces: textOf(days.traces),
    },
    environments: environments.map((each, key) => ({
      key,
      environment: each.environment,
      days: textsOf((name) => {
        const value = (each.days as Partial<Record<Kept, number | null>>)[name]
        return value === null ? ever : textOf(value)
      }),
    })),
    archiveBeforeDelete: policy.archive_before_delete,
    archive: archive && {
      after_days: String(archive.after_days),
      schedule: archive.schedule,
      enabled: archive.enabled,
    },
  }
}

/** Returns a text for each thing that has days. */
export function textsOf(of: (name: Kept) => string): Texts {
  const [content, observations, events, traces] = [
    of('content'),
    of('observations'),
    of('events'),
    of('traces'),
  ]
  return { content, observations, events, traces }
}

/** Reads a number of days: null is for ever, undefined is a left-out value. */
function readDays(text: string): { value?: number | null; fault?: string } {
  const trimmed = text.trim()
  if (trimmed === '') return {}
  if (/^(for )?ever$/i.test(trimmed)) return { value: null }
  const value = Number(trimmed)
  if (Number.isInteger(value) && value >= 1 && value <= days_max) return { value }
  return { fault: 'Write a whole number of days from 1 to 36,500, or leave it empty.' }
}

/** Returns the request of a draft, and the faults that can be seen without the API. */
export function requestOf(draft: Draft): { request: RetentionPolicyRequest; faults: Fault[] } {
  const faults: Fault[] = []
  const daysOf = (texts: Texts, pointer: string) => {
    const days: Partial<Record<Kept, number | null>> = {}
    for (const name of kept) {
      const { value, fault } = readDays(texts[name])
      if (fault !== undefined) faults.push({ pointer: `${pointer}/${name}`, detail: fault })
      if (value !== undefined) days[name] = value
    }
    return days
  }
  const environments = draft.environments.map(({ environment, days }, at) => {
    const name = environment.trim()
    const first = draft.environments.findIndex((each) => each.environment.trim() === name)
    const fault =
      name === '' ? 'Name the environment.' : first < at ? 'This name is there twice.' : ''
    const pointer = `/environments/${at}`
    if (fault !== '') faults.push({ pointer: `${pointer}/environment`, detail: fault })
    return { environment: name, days: daysOf(days, `${pointer}/days`) }
  })
  const { content = null, observations = null, traces = null, events } = daysOf(draft.days, '/days')
  const days = { content, observations, traces, ...(events !== undefined && { events }) }
  return {
    request: {
      days,
      environments,
      archive_before_delete: draft.archiveBeforeDelete,
      take_over: false,
      archive: draft.archive && { ...draft.archive, after_days: Number(draft.archive.after_days) },
    },
    faults,
  }
}

import type { EventName } from '../events/event.ts'

/** A step of the funnel, with the posted events and the stored data that prove it. */
type Step = { meaning: string; events: readonly EventName[]; from_data: boolean }

/** The steps of the funnel, in order. */
export const funnelSteps = {
  installed: {
    meaning: 'The project exists, or an installation reported itself.',
    events: ['installed'],
    from_data: true,
  },
  key_created: {
    meaning: 'A key can send calls.',
    events: ['key_created', 'sdk_configured'],
    from_data: true,
  },
  first_call: {
    meaning: 'A completion went through the proxy.',
    events: ['first_call'],
    from_data: true,
  },
  first_span: { meaning: 'An OTLP span was stored.', events: ['first_span'], from_data: true },
  first_task: {
    meaning: 'A task was stored that the client named.',
    events: ['first_task'],
    from_data: true,
  },
  first_verdict: {
    meaning: 'A task has a verdict of detection.',
    events: ['first_verdict'],
    from_data: true,
  },
  first_incident_rule: {
    meaning: 'An incident rule exists that is not of the seeded scenario.',
    events: ['first_incident_rule'],
    from_data: true,
  },
  first_feedback: { meaning: 'Feedback was sent.', events: ['first_feedback'], from_data: true },
} as const satisfies Record<string, Step>

export type FunnelStep = keyof typeof funnelSteps

export const funnelStepNames = Object.keys(funnelSteps) as FunnelStep[]

/** Returns the step of an event; undefined for an event without a step. */
export function stepOfEvent(name: string): FunnelStep | undefined {
  return funnelStepNames.find((step) =>
    (funnelSteps[step].events as readonly string[]).includes(name),
  )
}

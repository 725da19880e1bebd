import type { CelRule } from '../../contract.ts'

/** Stands for days that are left out: more than there may be. */
const forEver = 36_501

/** The days of a section, in CEL; `forEver` without any. */
function daysOf(section: string): string {
  return `(has(${section}) && has(${section}.days) ? ${section}.days : ${forEver})`
}

/** The days that an environment has of a section of its own. */
const ownDays = (section: string) => `(has(e.${section}.days) ? e.${section}.days : ${forEver})`

/** The days of a section in an environment, which are the policy's where it has none. */
const daysIn = (section: string) =>
  `(has(e.${section}) ? ${ownDays(section)} : ${daysOf(`self.spec.${section}`)})`

const everywhere = (rule: string) =>
  `!has(self.spec.environments) || self.spec.environments.all(e, ${rule})`

/**
 * What the service refuses too, told when the resource is applied: nothing is kept longer than what
 * it belongs to. Content and events that say nothing go with their observations.
 */
export const retentionPolicyRules: readonly CelRule[] = [
  {
    rule: `${daysOf('self.spec.observations')} <= ${daysOf('self.spec.traces')}`,
    message: 'observations.days: expected at most traces.days',
  },
  ...(['content', 'events'] as const).map((section) => ({
    rule: `!has(self.spec.${section}) || !has(self.spec.${section}.days) || self.spec.${section}.days <= ${daysOf('self.spec.observations')}`,
    message: `${section}.days: expected at most observations.days`,
  })),
  {
    rule: everywhere(`!has(e.observations) || ${ownDays('observations')} <= ${daysIn('traces')}`),
    message: 'environments: observations.days: expected at most the days of traces there',
  },
  {
    rule: everywhere(`!has(e.events) || ${ownDays('events')} <= ${observationsIn()}`),
    message: 'environments: events.days: expected at most the days of observations there',
  },
  {
    rule: everywhere(
      `!has(e.content) || !has(e.content.days) || e.content.days <= ${observationsIn()}`,
    ),
    message: 'environments: content.days: expected at most the days of observations there',
  },
]

/** Observations of an environment that says nothing of them go with its traces at the latest. */
function observationsIn(): string {
  const [own, observations] = [ownDays('observations'), daysOf('self.spec.observations')]
  const traces = daysIn('traces')
  return `(has(e.observations) ? ${own} : ${observations} <= ${traces} ? ${observations} : ${traces})`
}

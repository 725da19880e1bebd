import { type DefaultRoute, unroutedSeverities } from '../../rules/default-route.ts'
import { eventWarnings } from '../../rules/event-warnings.ts'
import type { Rule } from '../../rules/rule.ts'

/** Everything of a project that rules refer to by name. */
export type KnownNames = {
  channels: ReadonlySet<string>
  rules: ReadonlySet<string>
  /** Ids and e-mails of the members, as far as rules name them. */
  members: ReadonlySet<string>
  /** The channels of rules that name none. */
  route?: DefaultRoute | undefined
}

function channelsOf(rule: Rule): Set<string> {
  return new Set([...rule.notify, ...rule.escalation.flatMap(({ notify }) => notify)])
}

/** Returns the names that a rule notifies and that no channel of the project has. */
export function missingChannels(rule: Rule, known: Pick<KnownNames, 'channels'>): string[] {
  return [...channelsOf(rule)].filter((name) => !known.channels.has(name))
}

/** Returns the warnings about a rule that is accepted, but may not do what its author expects. */
export function warningsOf(rule: Rule, known: KnownNames): string[] {
  const warnings = missingChannels(rule, known).map(
    (name) => `No channel has the name \`${name}\`. Create it, or no message reaches it.`,
  )
  for (const { rule: name } of rule.inhibited_by) {
    if (name === undefined || known.rules.has(name)) continue
    warnings.push(`\`inhibited_by\`: no rule has the name \`${name}\`.`)
  }
  const { assign_to } = rule
  if (assign_to !== undefined && !known.members.has(assign_to.toLowerCase())) {
    warnings.push(`\`assign_to\`: ${JSON.stringify(assign_to)} is not a member of the project.`)
  }
  const silent = silentSeverities(rule, known.route)
  if (silent.length > 0) {
    const about = rule.burn_rate === undefined ? '' : ` about ${silent.join(', ')}`
    warnings.push(
      `\`notify\` and \`escalation\` name no channel, nor does the default route, so no message${about} is sent.`,
    )
  }
  const aboutEvents = eventWarnings(rule.event).map(({ path, message }) => {
    return `\`${path.join('.')}\`: ${message}.`
  })
  return [...warnings, ...aboutEvents]
}

/** Returns the severities of a live rule that no message reports. Escalation reports all of them. */
function silentSeverities(rule: Rule, route: DefaultRoute | undefined): string[] {
  if (rule.mode !== 'live' || rule.escalation.length > 0) return []
  return unroutedSeverities(rule, route)
}

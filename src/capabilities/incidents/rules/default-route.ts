import { z } from 'zod'
import { matchesGlob } from '../../../kernel/glob.ts'
import { record } from '../../../model/named-schemas.ts'
import { type Severity, severities } from '../../../model/severity.ts'
import { splitTiers } from './burn-tiers.ts'
import { labelName, type Rule } from './rule.ts'

const routeMatch = record('DefaultRouteMatch', {
  min_severity: z.enum(severities).optional().describe('Least severity. Default: any.'),
  labels: z
    .record(labelName, z.string().max(256))
    .default({})
    .describe('Globs of labels that the rule must have. Default: any labels.'),
  notify: z.array(z.string().min(1).max(256)).min(1).max(20).describe('Names of channels.'),
})

/** Which channels hear of incidents whose rules have an empty `notify`. */
export const defaultRouteShape = record('DefaultRouteRequest', {
  matches: z
    .array(routeMatch)
    .max(50)
    .describe('The first match decides. The last one should have no conditions.'),
})
export type DefaultRoute = z.output<typeof defaultRouteShape>

/**
 * Returns the channels that a rule adds to an incident of a severity: its own, or those of the
 * default route. A shadow rule adds no channels.
 */
export function routedChannels(
  { mode, notify, labels }: Pick<Rule, 'mode' | 'notify' | 'labels'>,
  severity: Severity,
  route: DefaultRoute | undefined,
): readonly string[] {
  if (mode === 'shadow') return []
  if (notify.length > 0 || route === undefined) return notify
  const rank = severities.indexOf(severity)
  const match = route.matches.find(
    ({ min_severity = 'info', labels: globs }) =>
      rank >= severities.indexOf(min_severity) &&
      Object.entries(globs).every(
        ([name, glob]) => Object.hasOwn(labels, name) && matchesGlob(labels[name] ?? '', glob),
      ),
  )
  return match?.notify ?? []
}

/** Returns the severities of a rule for which neither the rule nor the route names a channel. */
export function unroutedSeverities(rule: Rule, route: DefaultRoute | undefined): Severity[] {
  const { burn_rate, severity } = rule
  const tiers = burn_rate === undefined ? [] : splitTiers(burn_rate, severity).tiers
  const own = tiers.length === 0 ? [severity] : tiers.map((tier) => tier.severity)
  const silent = new Set(own.filter((one) => routedChannels(rule, one, route).length === 0))
  return severities.filter((one) => silent.has(one))
}

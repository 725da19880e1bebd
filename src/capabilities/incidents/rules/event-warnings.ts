import {
  findingDeclarations,
  findingKinds,
  verificationTypes,
} from '../../../model/finding-kind.ts'
import type { EventMatch } from './condition-kinds.ts'
import type { Fault } from './kind-faults.ts'

/** Returns why an event rule, although valid, matches less than its author expects. */
export function eventWarnings(event: { match: Match } | undefined): Fault[] {
  if (event === undefined) return []
  const { match } = event
  return (match.types ?? []).flatMap((type, at) => {
    const message = warningOf(match, type)
    return message === undefined ? [] : [{ path: ['event', 'match', 'types', at], message }]
  })
}

type Match = Pick<EventMatch, 'source' | 'kinds' | 'types'>

function warningOf({ source, kinds }: Match, type: string): string | undefined {
  const kindOfType = findingKinds.find((kind) => findingDeclarations[kind].types.includes(type))
  if (source === 'ledger') {
    // Reasons of the ledger are not a closed list.
    if (kindOfType === undefined) return undefined
    return `\`${type}\` is a type of findings, which the ledger does not have: set \`source: finding\``
  }
  if (source === 'verification') {
    if (verificationTypes.some((one) => one === type)) return undefined
    return `no verification finds \`${type}\`, expected ${verificationTypes.join(' or ')}`
  }
  if (kindOfType === undefined) {
    const known = (kinds ?? findingKinds).flatMap((kind) => findingDeclarations[kind].types)
    return `no detector finds \`${type}\`, expected one of ${known.join(', ')}`
  }
  if (kinds === undefined || kinds.includes(kindOfType)) return undefined
  return `never matches: \`${type}\` is of the kind ${kindOfType}, and \`kinds\` has ${kinds.join(', ')}`
}

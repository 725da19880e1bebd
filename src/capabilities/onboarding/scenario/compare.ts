import { type AgentName, agentNames, scenarioAgents } from './agents.ts'

/** A finding of a task of the scenario. */
export type FoundFinding = { finding_id: string; type: string; severity: string }

/** Findings of the task of an agent, compared with the expected types. */
export type AgentResult = {
  name: AgentName
  expected: string[]
  found: FoundFinding[]
  /** Expected types that were not found. */
  missing: string[]
  /** Types that were found and not expected. */
  unexpected: string[]
  as_expected: boolean
}

/** Compares the findings of each task with what was expected. Repeated findings of a type are fine. */
export function compareFindings(
  found: Readonly<Partial<Record<AgentName, readonly FoundFinding[]>>>,
): AgentResult[] {
  return agentNames.map((name) => {
    const expected = [...(scenarioAgents.find((agent) => agent.name === name)?.expected ?? [])]
    const findings = [...(found[name] ?? [])]
    const types = [...new Set(findings.map(({ type }) => type))].toSorted()
    const missing = expected.filter((type) => !types.includes(type))
    const unexpected = types.filter((type) => !expected.includes(type))
    const as_expected = missing.length === 0 && unexpected.length === 0
    return { name, expected, found: findings, missing, unexpected, as_expected }
  })
}

/** Names of the agents of the scenario, in order. */
export const agentNames = ['loop', 'failure', 'lost_context', 'invented_figure', 'healthy'] as const
export type AgentName = (typeof agentNames)[number]

/**
 * An agent of the scenario, with the messages of users and the answers of the model and of tools.
 */
export type ScenarioAgent = {
  name: AgentName
  /** Description of its behaviour, for people. */
  about: string
  /** Types of findings that detection has to find, and no others. */
  expected: readonly string[]
  system: string
  turns: readonly Turn[]
}

type Turn = { user: string; steps?: readonly ToolStep[]; answer: string }
type ToolStep = { tool: string; arguments: Record<string, unknown>; result: string }

const noPolicy: ToolStep = {
  tool: 'search_policy',
  arguments: { query: 'refund for a cracked hopper' },
  result: '{"documents":[],"hint":"Policies are filed by topic."}',
}

const invoice = (id: string): ToolStep => ({
  tool: 'get_invoice',
  arguments: { id },
  result: `Invoice ${id}: the amount is $1,249.50, due on 14 March 2026.`,
})

/** The invented figure: no source that the agent saw contains it. */
export const inventedFigure = '$900.00'

/** The agents of the scenario. `healthy` does what `invented_figure` should have done. */
export const scenarioAgents: readonly ScenarioAgent[] = [
  {
    name: 'loop',
    about: 'Repeats the same search five times, and gives up.',
    expected: ['repeat_call'],
    system: 'You are the support agent of a shop. Read the policy before you promise anything.',
    turns: [
      {
        user: 'My coffee grinder arrived with a cracked hopper. Can I get my money back?',
        steps: [noPolicy, noPolicy, noPolicy, noPolicy, noPolicy],
        answer: 'I could not find our policy for this. A colleague will write to you.',
      },
    ],
  },
  {
    name: 'failure',
    about: 'A tool refuses, and the task ends without its goal.',
    expected: ['tool_failure'],
    system: 'You deploy services.',
    turns: [
      {
        user: 'Deploy cart 2.1 to production.',
        steps: [
          { tool: 'build', arguments: { service: 'cart' }, result: 'built cart:2.1' },
          {
            tool: 'deploy',
            arguments: { image: 'cart:2.1' },
            result: 'Error: image cart:2.1 is not signed; deployment refused',
          },
        ],
        answer: 'The deployment was refused: the image is not signed. I could not deploy cart 2.1.',
      },
    ],
  },
  {
    name: 'lost_context',
    about: 'Breaks a rule of its instructions in its second answer.',
    expected: ['lost_context'],
    system: 'You write advertisements. Never use the word "cheap".',
    turns: [
      {
        user: 'A line for our shoes.',
        answer: 'Light as air: walk on clouds for a fair price.',
      },
      {
        user: 'And one for the socks.',
        answer: 'Soft, warm and cheap: socks for every day.',
      },
    ],
  },
  {
    name: 'invented_figure',
    about: 'Adds an amount to its answer that neither a tool nor the user gave.',
    expected: ['unsupported_value'],
    system: 'You answer questions about invoices.',
    turns: [
      {
        user: 'What does invoice INV-7001 say?',
        steps: [invoice('INV-7001')],
        answer: `The amount of invoice INV-7001 is $1,249.50, due on 14 March 2026. You have already paid ${inventedFigure} of it.`,
      },
    ],
  },
  {
    name: 'healthy',
    about: 'Healthy: answers with the result of its tool. Expects no findings.',
    expected: [],
    system: 'You answer questions about invoices.',
    turns: [
      {
        user: 'What does invoice INV-7002 say?',
        steps: [invoice('INV-7002')],
        answer: 'The amount of invoice INV-7002 is $1,249.50, due on 14 March 2026.',
      },
    ],
  },
]

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

import { type ScenarioAgent, scenarioAgents } from '../onboarding/index.ts'
import type { ScriptInput } from './scripted-provider/script.ts'

const stepsOf = ({ turns }: ScenarioAgent) => turns.flatMap(({ steps = [] }) => steps)

/** Returns the definitions of the tools of an agent, as it sends them with each call. */
export function toolsOf(agent: ScenarioAgent): unknown[] | undefined {
  const used = new Map(stepsOf(agent).map((step) => [step.tool, step.arguments]))
  if (used.size === 0) return undefined
  return [...used].map(([name, given]) => {
    const properties = Object.fromEntries(
      Object.keys(given).map((field) => [field, { type: 'string' }]),
    )
    return { type: 'function', function: { name, parameters: { type: 'object', properties } } }
  })
}

const callId = ({ name }: ScenarioAgent, turn: number, step: number) =>
  `call_${name}_${turn}_${step}`

/** Results of all tool calls, by the id of the call. */
export const toolResults: ReadonlyMap<string, string> = new Map(
  scenarioAgents.flatMap((agent) =>
    agent.turns.flatMap(({ steps = [] }, turn) =>
      steps.map(({ result }, step) => [callId(agent, turn, step), result] as const),
    ),
  ),
)

/** Number of model calls of an agent. */
export function callsOf(agent: ScenarioAgent): number {
  return stepsOf(agent).length + agent.turns.length
}

/** The answers of the scripted provider. The last message alone selects a step. */
export const scenarioScript: ScriptInput = {
  steps: scenarioAgents.flatMap((agent) =>
    agent.turns.flatMap(({ user, steps = [], answer }, turn) =>
      Array.from({ length: steps.length + 1 }, (_, at) => {
        const step = steps[at]
        const match =
          at === 0
            ? { last_role: 'user', last_text_contains: user }
            : { last_tool_call_id: callId(agent, turn, at - 1) }
        if (step === undefined) return { match, reply: { content: answer } }
        const call = { id: callId(agent, turn, at), name: step.tool, arguments: step.arguments }
        return { match, reply: { tool_calls: [call] } }
      }),
    ),
  ),
}
